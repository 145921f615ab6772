// SPDX-License-Identifier: BSD-3-Clause
// A small HTTP server for people at this machine: loopback alone, GET and HEAD alone, everything
// bounded. Not meant for the open network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "loom/http/request.hpp"

namespace loom::http {

struct Response {
  int status = 200;
  std::string type = "text/html; charset=utf-8";
  std::string body;
  std::string location;  ///< of a redirection
};

/// Called from several threads at once.
using Handler = std::function<Response(const Request&)>;

struct ServerOptions {
  std::uint16_t port = 0;          ///< 0: any that is free
  std::size_t threads = 4;         ///< requests that are answered at once
  std::size_t most_bytes = 16384;  ///< of a request
  double seconds = 5;              ///< in which a request must have come, an answer been taken
};

class Server {
 public:
  /// Listens on 127.0.0.1. Throws kUnwritable where the port is taken.
  Server(const ServerOptions& options, Handler handler);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// Answers until `stop` says so, which is asked five times a second. Requests for another host
  /// than this one are refused: a page of the network whose name has become our address is no
  /// visitor. What a handler throws is answered with 500 and its message.
  void run(const std::function<bool()>& stop);

 private:
  void work(const std::function<bool()>& stop) const;
  void answer(int connection) const;
  ServerOptions options_;
  Handler handler_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace loom::http
