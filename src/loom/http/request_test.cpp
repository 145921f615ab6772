// SPDX-License-Identifier: BSD-3-Clause
#include "loom/http/request.hpp"

#include <gtest/gtest.h>

#include "loom/testing/dice.hpp"

namespace loom::http {
namespace {

TEST(Request, IsUnderstood) {
  const Parsed got = parse_request(
      "GET /target/12%2F3?sql=SELECT+1%3B&a&b=%C3%A9 HTTP/1.1\r\nX: y\r\nHOST:  LocalHost:8000 "
      "\r\n\r\n");
  ASSERT_TRUE(got.request);
  EXPECT_EQ(got.request->path, "/target/12/3");
  EXPECT_EQ(got.request->value("sql"), "SELECT 1;");
  EXPECT_EQ(got.request->value("a"), "");
  EXPECT_EQ(got.request->value("b"), "\xc3\xa9");
  EXPECT_EQ(got.request->host, "localhost");
  EXPECT_FALSE(got.request->head);
  EXPECT_EQ(parse_request("HEAD / HTTP/1.0\nHost: [::1]:80\n\n").request->host, "[::1]");
}

TEST(Request, WhatIsNoneHasAStatus) {
  EXPECT_EQ(parse_request("POST / HTTP/1.1\r\n\r\n").status, 405);
  EXPECT_EQ(parse_request("GET / HTTP/2\r\n\r\n").status, 501);
  for (const char* bytes :
       {"", "\r\n\r\n", "GET\r\n\r\n", "GET / \r\n\r\n", "GET /% HTTP/1.1\r\n\r\n",
        "GET /%4 HTTP/1.1\r\n\r\n", "GET /?a=%zz HTTP/1.1\r\n\r\n", "GET x HTTP/1.1\r\n\r\n",
        "GET http://other/ HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nno header\r\n\r\n"}) {
    const Parsed got = parse_request(bytes);
    EXPECT_FALSE(got.request) << bytes;
    EXPECT_TRUE(got.status == 400 || got.status == 501) << bytes;
  }
}

TEST(Request, EscapesComeBack) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  EXPECT_EQ(unescaped(escaped(all)), all);
}

TEST(Request, ChangedBytesAreARequestOrAStatus) {
  const std::string good = "GET /a/b?c=%41&d=e+f HTTP/1.1\r\nHost: localhost:1\r\nX: y\r\n\r\n";
  const std::vector<std::uint8_t> bytes(good.begin(), good.end());
  test::Dice dice(3);
  for (std::size_t i = test::replay_rounds(20000); i > 0; --i) {
    const auto changed = test::with_changed_bytes(bytes, bytes.size(), dice);
    const Parsed got = parse_request(std::string(changed.begin(), changed.end()));
    EXPECT_TRUE(got.request.has_value() || got.status >= 400);
  }
}

}  // namespace
}  // namespace loom::http
