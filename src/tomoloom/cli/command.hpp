// SPDX-License-Identifier: BSD-3-Clause
// The commands of the program, one file each.
#pragma once

#include "loom/program/command.hpp"
#include "loom/program/common_options.hpp"
#include "loom/program/text_output.hpp"
#include "tomoloom/foundation.hpp"

namespace tomoloom::cli {

inline constexpr const char* kProgram = "tomoloom";

[[nodiscard]] Command make_recon();
[[nodiscard]] Command make_simulate();
[[nodiscard]] Command make_info();
[[nodiscard]] Command make_compare();
[[nodiscard]] Command make_view();

}  // namespace tomoloom::cli
