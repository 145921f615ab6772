// SPDX-License-Identifier: BSD-3-Clause
#include "loom/http/server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "loom/base/error.hpp"

namespace loom::http {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWakeMs = 200;
constexpr int kBacklog = 64;

const char* reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 303:
      return "See Other";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    default:
      return "Internal Server Error";
  }
}

Response plain(int status) {
  return {status, "text/plain; charset=utf-8", std::string(reason(status)) + "\n", ""};
}

std::string head_of(const Response& r) {
  std::string out = "HTTP/1.1 " + std::to_string(r.status) + " " + reason(r.status) +
                    "\r\nContent-Type: " + r.type +
                    "\r\nContent-Length: " + std::to_string(r.body.size());
  if (!r.location.empty()) out += "\r\nLocation: " + r.location;
  if (r.status == 405) out += "\r\nAllow: GET, HEAD";
  // Pages carry their own scripts and load nothing.
  return out +
         "\r\nConnection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff"
         "\r\nReferrer-Policy: no-referrer\r\nX-Frame-Options: DENY"
         "\r\nContent-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; "
         "script-src 'unsafe-inline'; img-src data: blob:; form-action 'self'; base-uri 'none'"
         "\r\n\r\n";
}

/// Waits until the connection can be read or written; false when the time is over.
bool ready(int connection, short what, Clock::time_point end) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
  pollfd one{connection, what, 0};
  return left.count() > 0 && ::poll(&one, 1, static_cast<int>(left.count())) > 0;
}

void send_all(int connection, std::string_view bytes, Clock::time_point end) {
  while (!bytes.empty() && ready(connection, POLLOUT, end)) {
    const ssize_t n = ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

bool is_this_machine(const std::string& host) {
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]";
}

}  // namespace

Server::Server(const ServerOptions& options, Handler handler)
    : options_(options), handler_(std::move(handler)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int on = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(options.port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  const bool listens =
      listener_ >= 0 && ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
      ::bind(listener_, generic, size) == 0 && ::listen(listener_, kBacklog) == 0 &&
      ::getsockname(listener_, generic, &size) == 0;
  if (!listens) {
    const int error = errno;
    if (listener_ >= 0) ::close(listener_);
    throw Error(Status::kUnwritable, "port " + std::to_string(options.port) +
                                         " of this machine: " + std::strerror(error));
  }
  port_ = ntohs(address.sin_port);
}

Server::~Server() { ::close(listener_); }

void Server::run(const std::function<bool()>& stop) {
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < options_.threads; ++i) threads.emplace_back([&] { work(stop); });
  work(stop);
  for (std::thread& thread : threads) thread.join();
}

void Server::work(const std::function<bool()>& stop) const {
  while (!stop()) {
    pollfd one{listener_, POLLIN, 0};
    if (::poll(&one, 1, kWakeMs) <= 0) continue;
    const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;  // another thread was faster
    answer(connection);
    ::shutdown(connection, SHUT_WR);
    ::close(connection);
  }
}

void Server::answer(int connection) const {
  const auto patience =
      std::chrono::microseconds(static_cast<std::int64_t>(options_.seconds * 1e6));
  const auto end = Clock::now() + patience;
  std::string bytes;
  Response response = plain(408);
  bool head = false;
  while (ready(connection, POLLIN, end)) {
    char some[4096];
    const ssize_t n = ::recv(connection, some, sizeof some, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n <= 0) return;  // gone
    bytes.append(some, static_cast<std::size_t>(n));
    const bool whole =
        bytes.find("\r\n\r\n") != std::string::npos || bytes.find("\n\n") != std::string::npos;
    if (!whole && bytes.size() <= options_.most_bytes) continue;
    if (bytes.size() > options_.most_bytes) {
      response = plain(431);
      break;
    }
    const Parsed parsed = parse_request(bytes);
    response = plain(parsed.status);
    if (!parsed.request) break;
    head = parsed.request->head;
    if (!is_this_machine(parsed.request->host)) {
      response = plain(403);
      break;
    }
    try {
      response = handler_(*parsed.request);
    } catch (const std::exception& error) {
      response = plain(500);
      response.body = one_line(error.what()) + "\n";
    }
    break;
  }
  send_all(connection, head_of(response) + (head ? std::string() : response.body),
           Clock::now() + patience);
}

}  // namespace loom::http
