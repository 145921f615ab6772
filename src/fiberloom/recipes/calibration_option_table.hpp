// SPDX-License-Identifier: BSD-3-Clause
// The options of the steps of the calibration, a row each: what the command line, summaries and
// Python know of them. A new option is a row here and one use of its member.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fiberloom/recipes/calibrate_frame.hpp"
#include "loom/base/interval.hpp"

namespace fiberloom {

/// The member that an option sets.
using CalibrationOptionField =
    std::variant<double*, int*, std::string*, std::vector<std::string>*, std::vector<long>*,
                 CalibrationMethod*, calibrate::StarColour*, Verify*, Overwrite*>;

struct CalibrationOptionRow {
  const char* key;    ///< in summaries and Python
  const char* names;  ///< on the command line
  unsigned steps;     ///< bits of CalibrationStep: which read it
  const char* text;
  CalibrationOptionField (*field)(CalibrationJob&);
  const char* value = "";  ///< what help shows for it
  std::optional<Interval> interval = {};
  bool required = false, shows_default = false;
  bool is_setting = false;  ///< numbers depend on it, and it is no file

  /// "--infile", the first long name.
  [[nodiscard]] std::string long_name() const;
  [[nodiscard]] bool belongs_to(CalibrationStep step) const noexcept {
    return (steps & static_cast<unsigned>(step)) != 0;
  }
};

/// All of them, in the order of help. A key stands once for a step, with texts of its own.
[[nodiscard]] std::span<const CalibrationOptionRow> calibration_option_rows();

/// The words for a method, in the order of its values.
[[nodiscard]] const std::vector<std::string>& calibration_methods();

/// The words for a colour of standard stars, "auto" first, in the order of its values.
[[nodiscard]] const std::vector<std::string>& star_colours();

/// Puts the text of an option where it belongs; a list is one word, a,b,c. Throws kUsage with the
/// option's name.
void set_calibration_option(const CalibrationOptionRow& row, CalibrationJob& job,
                            const std::string& text);

/// Key and value of all that the numbers of job's step depend on beside its files.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> calibration_settings(
    const CalibrationJob& job);

}  // namespace fiberloom
