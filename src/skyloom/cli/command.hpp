// SPDX-License-Identifier: BSD-3-Clause
// The commands of the program, one file each.
#pragma once

#include "loom/program/command.hpp"
#include "loom/program/common_options.hpp"
#include "loom/program/text_output.hpp"
#include "skyloom/foundation.hpp"

namespace skyloom::cli {

inline constexpr const char* kProgram = "skyloom";

[[nodiscard]] Command make_simulate();
[[nodiscard]] Command make_schedule_command();
[[nodiscard]] Command make_map();
[[nodiscard]] Command make_compare();
[[nodiscard]] Command make_view();
[[nodiscard]] Command make_info();

}  // namespace skyloom::cli
