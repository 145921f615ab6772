// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/path_json.hpp"

#include <cstdlib>

#include "loom/base/print.hpp"
#include "loom/page/page.hpp"

namespace loom::batch {

std::string to_hex(const std::string& bytes) {
  std::string text;
  for (const char c : bytes)
    text += print("%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
  return text;
}

std::string from_hex(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes += static_cast<char>(std::strtoul(text.substr(i, 2).c_str(), nullptr, 16));
  }
  return bytes;
}

Json path_json(const std::string& path) {
  if (page::is_utf8(path)) return path;
  return {{"bytes", to_hex(path)}};
}

std::string path_of(const Json& json) {
  return json.is_string() ? json.get<std::string>() : from_hex(json.at("bytes").get<std::string>());
}

}  // namespace loom::batch
