// SPDX-License-Identifier: BSD-3-Clause
// Measurements of a trace here and there on the CCD, and the polynomial through them.
#pragma once

#include <vector>

#include "fiberloom/psf/trace_report.hpp"
#include "loom/linalg/small_solve.hpp"

namespace fiberloom {

/// A parameter's change as one place of the CCD shows it.
struct TraceWindow {
  double u = 0, v = 0;          ///< place in the domain
  double value = 0, error = 0;  ///< pixels; an error that is not positive: nothing was seen
};

/// The polynomial of the highest degree, at most `degree`, that the windows determine to
/// kMostTraceError everywhere in the domain. Those that stand out from it are left out; errors are
/// as large as the scatter of the others says, but not smaller than theirs.
[[nodiscard]] TraceFit fit_windows(const std::vector<TraceWindow>& windows, int degree);

/// An error of half a pixel tells nothing of a shift that is to be small.
inline constexpr double kMostTraceError = 0.5;

}  // namespace fiberloom
