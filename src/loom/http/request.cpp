// SPDX-License-Identifier: BSD-3-Clause
#include "loom/http/request.hpp"

#include <cctype>
#include <utility>

#include "loom/base/letter_case.hpp"

namespace loom::http {
namespace {

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// "localhost:8000" -> "localhost", "[::1]:8000" -> "[::1]".
std::string host_of(std::string_view value) {
  const std::size_t bracket = value.starts_with('[') ? value.find(']') : 0;
  if (bracket == std::string_view::npos) return {};
  return in_small_letters(std::string(value.substr(0, value.find(':', bracket))));
}

/// The next line without its end; `rest` loses it.
std::string_view take_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool parse_target(std::string_view target, Request& out) {
  const std::size_t mark = target.find('?');
  const auto path = unescaped(target.substr(0, mark));
  if (!path || !path->starts_with('/')) return false;
  out.path = *path;
  std::string_view query = mark == std::string_view::npos ? "" : target.substr(mark + 1);
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
    const std::size_t sign = pair.find('=');
    const auto name = unescaped(pair.substr(0, sign));
    const auto value =
        sign == std::string_view::npos ? std::string() : unescaped(pair.substr(sign + 1));
    if (!name || !value) return false;
    out.query.emplace_back(*name, *value);
  }
  return true;
}

}  // namespace

std::string Request::value(std::string_view name) const {
  for (const auto& [key, text] : query) {
    if (key == name) return text;
  }
  return {};
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      const int high = i + 2 < text.size() ? hex(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex(text[i + 2]) : -1;
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(16 * high + low);
      i += 2;
    }
  }
  return out;
}

std::string escaped(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain =
        byte < 128 && (std::isalnum(byte) != 0 || c == '-' || c == '.' || c == '_' || c == '~');
    if (plain) {
      out += c;
    } else {
      out += {'%', kHex[byte / 16], kHex[byte % 16]};
    }
  }
  return out;
}

Parsed parse_request(std::string_view bytes) {
  std::string_view rest = bytes;
  const std::string_view line = take_line(rest);
  const std::size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return {};
  if (!line.substr(last + 1).starts_with("HTTP/1.")) return {std::nullopt, 501};
  const std::string_view method = line.substr(0, first);
  if (method != "GET" && method != "HEAD") return {std::nullopt, 405};
  Request out;
  out.head = method == "HEAD";
  if (!parse_target(line.substr(first + 1, last - first - 1), out)) return {};
  while (!rest.empty()) {
    const std::string_view header = take_line(rest);
    if (header.empty()) break;
    const std::size_t colon = header.find(':');
    if (colon == std::string_view::npos || colon == 0) return {};
    if (same_but_for_case(header.substr(0, colon), "host")) {
      out.host = host_of(trimmed(header.substr(colon + 1)));
    }
  }
  return {std::move(out), 200};
}

}  // namespace loom::http
