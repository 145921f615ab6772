// SPDX-License-Identifier: BSD-3-Clause
#include "loom/program/exit_codes.hpp"

#include <algorithm>
#include <cstddef>

#include "loom/base/print.hpp"

namespace loom {
namespace {

std::string number(Status status) { return std::to_string(static_cast<int>(status)); }

}  // namespace

std::string exit_code_table(std::span<const Status> codes, NameOfStatus name_of) {
  std::string table;
  for (const Status code : codes) {
    table += print("  %3d  %s\n", static_cast<int>(code), std::string(name_of(code)).c_str());
  }
  return table;
}

ExitCodeText::ExitCodeText(NameOfStatus name_of, std::string program)
    : name_of_(name_of), program_(std::move(program)) {
  code(Status::kOk).code(Status::kUsage).code(Status::kInternal);
}

ExitCodeText& ExitCodeText::code(Status status) {
  parts_.emplace_back(status, number(status) + " " + std::string(name_of_(status)));
  return *this;
}

ExitCodeText& ExitCodeText::range(Status first, Status last, const std::string& text) {
  parts_.emplace_back(first, number(first) + "-" + number(last) + " " + text);
  return *this;
}

std::string ExitCodeText::text() const {
  constexpr std::size_t kWidth = 80;
  auto parts = parts_;
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  parts.emplace_back(Status::kInternal, "each of them: " + program_ + " manual");
  std::string text, line = "Exit codes:";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const char* const end = i + 2 < parts.size() ? "," : i + 1 < parts.size() ? ";" : "";
    std::string word(1, ' ');
    word.append(parts[i].second).append(end);
    if (line.size() + word.size() > kWidth) {
      text += line + "\n";
      line.assign(1, ' ');
    }
    line += word;
  }
  return text + line + "\n";
}

}  // namespace loom
