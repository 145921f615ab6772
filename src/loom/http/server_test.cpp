// SPDX-License-Identifier: BSD-3-Clause
#include "loom/http/server.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "loom/base/error.hpp"

namespace loom::http {
namespace {

class ServerTest : public testing::Test {
 protected:
  void SetUp() override {
    thread_ = std::thread([this] { server_.run([this] { return stop_.load(); }); });
  }
  void TearDown() override {
    stop_ = true;
    thread_.join();
  }
  /// Sends bytes, takes all that comes.
  [[nodiscard]] std::string say(const std::string& bytes) const {
    const int s = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server_.port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(s, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::send(s, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
    std::string out;
    char some[4096];
    for (ssize_t n = 0; (n = ::recv(s, some, sizeof some, 0)) > 0;) {
      out.append(some, static_cast<std::size_t>(n));
    }
    ::close(s);
    return out;
  }
  static Response page(const Request& request) {
    if (request.path == "/fault") throw std::runtime_error("two\nlines");
    return {200, "text/plain", request.path + request.value("x"), ""};
  }

  ServerOptions options_{.port = 0, .threads = 4, .most_bytes = 2000, .seconds = 0.3};
  Server server_{options_, page};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

TEST_F(ServerTest, AnswersAndSaysThatPagesLoadNothing) {
  const std::string got = say("GET /a?x=%21 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(got.starts_with("HTTP/1.1 200 OK\r\n")) << got;
  EXPECT_TRUE(got.ends_with("\r\n\r\n/a!")) << got;
  EXPECT_NE(got.find("Content-Length: 3\r\n"), std::string::npos);
  EXPECT_NE(got.find("default-src 'none'"), std::string::npos);
  EXPECT_TRUE(say("HEAD /a HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n").ends_with("\r\n\r\n"));
}

TEST_F(ServerTest, RefusesWhatIsNotForIt) {
  const auto status = [&](const std::string& bytes) { return say(bytes).substr(9, 3); };
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"), "403");
  EXPECT_EQ(status("GET / HTTP/1.1\r\n\r\n"), "403");
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: localhost\r\n\r\n"), "405");
  EXPECT_EQ(status("DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n"), "405");
  EXPECT_EQ(status("nonsense\r\n\r\n"), "400");
  EXPECT_EQ(status("GET /" + std::string(3000, 'a')), "431");
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: loc"), "408") << "and nobody waits for ever";
  const std::string fault = say("GET /fault HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(fault.starts_with("HTTP/1.1 500")) << fault;
  EXPECT_TRUE(fault.ends_with("two\\nlines\n")) << fault;
}

TEST_F(ServerTest, ManyAskAtOnceAndSilentOnesStopNobody) {
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int i = 0; i < 20; ++i) {
    threads.emplace_back([&, i] {
      if (i % 5 == 0) {
        (void)say("GET");  // says no more
        return;
      }
      good += say("GET /b HTTP/1.1\r\nHost: localhost\r\n\r\n").ends_with("/b");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 16);
}

TEST_F(ServerTest, APortThatIsTakenIsSaidToBe) {
  ServerOptions same = options_;
  same.port = server_.port();
  try {
    const Server second(same, page);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kUnwritable);
    EXPECT_NE(std::string(error.what()).find(std::to_string(same.port)), std::string::npos);
  }
}

}  // namespace
}  // namespace loom::http
