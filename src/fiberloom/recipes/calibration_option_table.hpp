// SPDX-License-Identifier: BSD-3-Clause
// The options of the steps of the calibration, a row each: what the command line, summaries and
// Python know of them. A new option is a row here and one use of its member.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fiberloom/recipes/calibrate_frame.hpp"
#include "loom/options/option_row.hpp"

namespace fiberloom {

/// Its `commands` are bits of CalibrationStep.
using CalibrationOptionRow = loom::OptionRow<CalibrationJob>;

[[nodiscard]] inline bool belongs_to(const CalibrationOptionRow& row,
                                     CalibrationStep step) noexcept {
  return (row.commands & static_cast<unsigned>(step)) != 0;
}

/// All of them, in the order of help. A key stands once for a step, with texts of its own.
[[nodiscard]] std::span<const CalibrationOptionRow> calibration_option_rows();

/// Key and value of all that the numbers of job's step depend on beside its files.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> calibration_settings(
    const CalibrationJob& job);

}  // namespace fiberloom
