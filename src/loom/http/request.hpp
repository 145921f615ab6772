// SPDX-License-Identifier: BSD-3-Clause
// What a browser asks for, out of the bytes that it sends. Knows no socket.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace loom::http {

/// A request that asks for something: GET or HEAD.
struct Request {
  std::string path;                                        ///< unescaped: "/target/12"
  std::vector<std::pair<std::string, std::string>> query;  ///< unescaped, in their order
  std::string host;                                        ///< without a port; lower case
  bool head = false;

  /// The first value of a name; "" where there is none.
  [[nodiscard]] std::string value(std::string_view name) const;
};

/// The head of a request, up to the empty line, which `bytes` hold. Otherwise the status that
/// answers it: 400 (makes no sense), 405 (another method), 501 (another protocol).
struct Parsed {
  std::optional<Request> request;
  int status = 400;
};
[[nodiscard]] Parsed parse_request(std::string_view bytes);

/// %41 and + as they are meant; nullopt where a % is followed by something else.
[[nodiscard]] std::optional<std::string> unescaped(std::string_view text);
/// A value for a query: every byte but letters, digits and -._~ as %XX.
[[nodiscard]] std::string escaped(std::string_view text);

}  // namespace loom::http
