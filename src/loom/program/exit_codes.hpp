// SPDX-License-Identifier: BSD-3-Clause
// Exit codes as text: all of them for the manual, a command's own for its help.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loom/base/error.hpp"

namespace loom {

using NameOfStatus = std::string_view (*)(Status) noexcept;

/// One line a code.
[[nodiscard]] std::string exit_code_table(std::span<const Status> codes, NameOfStatus name_of);

/// Which of the codes above 2 a command may end with; 0 and 2 all have.
class ExitCodeText {
 public:
  /// A program's names of codes, and how messages call it.
  ExitCodeText(NameOfStatus name_of, std::string program);
  ExitCodeText& code(Status status);
  /// "10-16 input missing or not good"
  ExitCodeText& range(Status first, Status last, const std::string& text);
  /// "Exit codes: 0 success, 2 wrong command line, 10-16 input ...", in lines of at most 80
  /// letters.
  [[nodiscard]] std::string text() const;

 private:
  NameOfStatus name_of_;
  std::string program_;
  std::vector<std::pair<Status, std::string>> parts_;
};

}  // namespace loom
