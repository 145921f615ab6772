// SPDX-License-Identifier: BSD-3-Clause
// The options of `skyloom schedule`.
#pragma once

#include <span>

#include "loom/options/option_row.hpp"
#include "skyloom/ground/scheduler.hpp"

namespace skyloom {

[[nodiscard]] std::span<const OptionRow<ScheduleOptions>> schedule_option_rows();

}  // namespace skyloom
