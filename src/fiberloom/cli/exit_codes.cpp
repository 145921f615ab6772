// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/cli/exit_codes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "fiberloom/status.hpp"
#include "loom/base/print.hpp"

namespace fiberloom::cli {
namespace {

constexpr std::array kAll{Status::kOk,
                          Status::kDifferent,
                          Status::kUsage,
                          Status::kSomeFailed,
                          Status::kNotFound,
                          Status::kMissingHdu,
                          Status::kMissingKeyword,
                          Status::kWrongShape,
                          Status::kCorrupt,
                          Status::kUnsupported,
                          Status::kChanged,
                          kNotCovered,
                          kSizeMismatch,
                          kFiberRange,
                          Status::kUnwritable,
                          Status::kDiskFull,
                          Status::kOutputExists,
                          Status::kNumerical,
                          Status::kInterrupted,
                          Status::kDevice,
                          Status::kMemory,
                          Status::kInternal,
                          kBadTemplate,
                          kTemplateRange};

std::string number(Status status) { return std::to_string(static_cast<int>(status)); }

std::string range(Status first, Status last, const char* text) {
  return number(first) + "-" + number(last) + " " + text;
}

}  // namespace

std::string exit_code_table() {
  std::string table;
  for (const Status code : kAll) {
    table +=
        print("  %3d  %s\n", static_cast<int>(code), std::string(exit_code_name(code)).c_str());
  }
  return table;
}

std::string exit_codes_of(const ExitCodes& codes) {
  constexpr std::size_t kWidth = 80;
  std::vector<std::pair<Status, std::string>> parts;
  const auto one = [&](Status code) {
    parts.emplace_back(code, number(code) + " " + std::string(exit_code_name(code)));
  };
  one(Status::kOk);
  one(Status::kUsage);
  for (const Status code : codes.more) one(code);
  if (codes.reads) {
    parts.emplace_back(Status::kNotFound,
                       range(Status::kNotFound, Status::kChanged, "input missing or not good"));
  }
  if (codes.matches) {
    parts.emplace_back(kNotCovered,
                       range(kNotCovered, kFiberRange, "inputs and options do not fit each other"));
  }
  if (codes.writes) {
    parts.emplace_back(Status::kUnwritable,
                       range(Status::kUnwritable, Status::kOutputExists, "output not writable"));
  }
  one(Status::kInternal);
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  parts.emplace_back(Status::kInternal, "each of them: fiberloom manual");
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

}  // namespace fiberloom::cli
