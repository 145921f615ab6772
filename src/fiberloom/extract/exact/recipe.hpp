// SPDX-License-Identifier: BSD-3-Clause
// What is decided for a bundle, written once: the CPU engine asks for each bundle and fibre, the
// device for those of a frame at once. Rules for single numbers are in recipe_lane.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "fiberloom/extract/exact/recipe_lane.hpp"
#include "fiberloom/extract/exact/windows.hpp"
#include "loom/linalg/rational_root.hpp"

namespace fiberloom::exact {

/// Shares of the tolerance. What the band cuts off is bounded some hundred times above its true
/// size; solve and root are known sharply, so that these shares leave all three errors about equal.
inline constexpr double kSolveShare = 1e-4, kRootShare = 1e-3;

/// Customary: what rounding may do at this condition number, in sigma.
[[nodiscard]] inline double rounding_sigma(double high, double low = 1) {
  return 10 * 2.2e-16 * high / low;
}
/// What a band may cut off, and neighbouring windows may differ by, in sigma.
[[nodiscard]] inline double allowed_sigma(double tolerance, double high, double low = 1) {
  return tolerance + rounding_sigma(high, low);
}
/// The bound on the error of a bin that a bundle reports.
[[nodiscard]] inline double bound_sigma(double truncation, double root, double seam, double solve,
                                        double kappa) {
  return truncation + root + seam + solve + rounding_sigma(kappa);
}
/// Of a solution; `rz` as in SolveProgress.
[[nodiscard]] inline double solution_error(double rz) {
  return rz < 0 ? std::numeric_limits<double>::infinity() : std::sqrt(rz);
}

/// Fibres first, first + step, ... of a bundle.
struct EverySo {
  int first, step;
  [[nodiscard]] int count(int nfiber) const {
    return std::max(0, (nfiber - first + step - 1) / step);
  }
};
/// Those that a solve iterates, and those that it eliminates: every second one where a fibre shares
/// light with its neighbours alone.
struct SolveOrder {
  EverySo iterated, eliminated;
};
[[nodiscard]] inline SolveOrder solve_order(int nfiber, int reach) {
  if (reach == 1) return {{0, 2}, {1, 2}};
  return {{0, 1}, {nfiber, 1}};
}

/// A fibre asks for a wider band, as long as there is one.
[[nodiscard]] inline bool too_narrow(double truncation, double allowed, bool widest) {
  return truncation > allowed && !widest;
}
/// Whether a root may be tried with `band` in place of `widest`, where it is known what that cuts
/// off.
[[nodiscard]] inline bool may_do_with(int band, int least_band, int widest) {
  return band >= least_band && band < widest;
}

/// Windows of the roots.
[[nodiscard]] inline Windows root_windows(int nbin, int skirt, int most_windows) {
  const Windows windows = cut_windows(nbin, skirt);
  return most_windows < windows.count ? cut_windows(nbin, nbin) : windows;
}
/// Where windows differ by more than is allowed: twice the skirt, then one window.
[[nodiscard]] inline int next_skirt(int skirt, int guard, int nbin) {
  return skirt == guard ? 2 * skirt : nbin;
}
[[nodiscard]] inline bool needs_longer_skirts(double seam, double tolerance, double kappa,
                                              int windows) {
  return windows > 1 && !(seam <= allowed_sigma(tolerance, kappa));
}

/// Poles for a spectrum in [low, high] whose root may be wrong by `root_tolerance` sigma in the
/// brightest bin.
[[nodiscard]] inline RationalRoot choose_poles(double low, double high, double signal,
                                               double root_tolerance) {
  return rational_root(low, high, pole_count(high / low, pole_tolerance(root_tolerance, signal)));
}

}  // namespace fiberloom::exact
