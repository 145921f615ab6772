// SPDX-License-Identifier: BSD-3-Clause
// What may leave as the result of a bin: host code and kernels of the device follow the same rule.
#pragma once

#include "fiberloom/foundation.hpp"
#include "loom/base/scalar_lane.hpp"

namespace fiberloom {

/// Information fraction below which a bin is unconstrained (docs/fiberloom/algorithm.md,
/// "Information").
inline constexpr double kUnconstrainedBelow = 1e-2;

/// Beyond these a number would be infinite, or 0, as the float32 that files hold.
inline constexpr double kMostStored = 1e37, kLeastStored = 1e-37;

/// chi2 of a pixel is cut here.
inline constexpr double kMostChi2 = 1e30;

/// False also for whatever is no number.
FL_LANE_HD inline bool storable(double flux, double ivar, double xflux) {
  return ivar >= kLeastStored && ivar <= kMostStored && flux >= -kMostStored &&
         flux <= kMostStored && xflux >= -kMostStored && xflux <= kMostStored;
}

}  // namespace fiberloom
