// SPDX-License-Identifier: BSD-3-Clause
// How --json writes the time of a stage, in every command.
#pragma once

#include "loom/json/json.hpp"
#include "loom/runtime/usage.hpp"

namespace fiberloom::cli {

[[nodiscard]] inline Json stage_json(const StageTime& time) {
  return {{"wall_s", time.wall_s}, {"cpu_s", time.cpu_s}};
}

}  // namespace fiberloom::cli
