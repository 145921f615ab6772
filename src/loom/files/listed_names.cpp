// SPDX-License-Identifier: BSD-3-Clause
#include "loom/files/listed_names.hpp"

#include <sstream>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace loom {
namespace {

constexpr const char* kBlanks = " \t\r\v\f";

/// Empty where there is none.
std::string first_word(const std::string& line, const std::string& place) {
  const std::size_t begin = line.find_first_not_of(kBlanks);
  if (begin == std::string::npos || line[begin] == '#') return "";
  if (line[begin] != '"') return line.substr(begin, line.find_first_of(kBlanks, begin) - begin);
  const std::size_t end = line.find('"', begin + 1);
  if (end != std::string::npos) return line.substr(begin + 1, end - begin - 1);
  throw Error(Status::kUsage, place + ": a double quote is not closed");
}

}  // namespace

std::vector<std::string> listed_names(const std::string& text, const std::string& list) {
  std::istringstream lines(text);
  std::vector<std::string> out;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    std::string name = first_word(line, print("%s: line %zu", list.c_str(), ++number));
    if (!name.empty()) out.push_back(std::move(name));
  }
  return out;
}

}  // namespace loom
