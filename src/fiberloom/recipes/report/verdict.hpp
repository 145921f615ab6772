// SPDX-License-Identifier: BSD-3-Clause
// Whether a frame can be trusted, in words. Every rule and every limit stands in
// verdict_checks.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fiberloom/recipes/report/clusters.hpp"

namespace fiberloom::report {

struct FrameReport;

/// In order of weight. unknown: the frame does not hold what the check needs.
enum class Level { kGood, kUnknown, kOdd, kBad };
[[nodiscard]] const char* level_name(Level level) noexcept;  ///< "good", "unknown", "odd", "bad"

/// One check: what was measured, what is usual, and where to look.
struct Finding {
  Level level = Level::kUnknown;
  std::string check;  ///< a short name: "dead fibres"
  std::string text;   ///< one sentence with the numbers; plain text, never markup
  std::optional<BinBox> place;
};

struct Verdict {
  Level level = Level::kUnknown;  ///< the worst of the findings; unknown when none is known
  std::string words;              ///< one line
  std::vector<Finding> findings;  ///< the worst first, else in the order of the checks
};

/// All checks in their order, of a frame with some information.
[[nodiscard]] std::vector<Finding> run_checks(const FrameReport& report);

/// Looks at what is in the report already (statistics, pulls, wild pixels, flags): nothing is read.
[[nodiscard]] Verdict judge(const FrameReport& report);

}  // namespace fiberloom::report
