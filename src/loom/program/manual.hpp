// SPDX-License-Identifier: BSD-3-Clause
// `PROGRAM manual`: the manual page PROGRAM(1) in man's language.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "loom/program/command.hpp"

namespace loom {

/// What the page says beside commands and options; plain text.
struct ManualText {
  std::string version;
  std::string subject;      ///< a few words after the program's name
  std::string description;  ///< whole lines
  std::string exit_codes;   ///< a line each
  std::vector<std::pair<std::string, std::string>> environment;  ///< variables and what they do
};

[[nodiscard]] std::string manual_page(const Command& program, const ManualText& manual);

/// The command that prints it.
[[nodiscard]] Command make_manual(ManualText manual, std::string footer);

}  // namespace loom
