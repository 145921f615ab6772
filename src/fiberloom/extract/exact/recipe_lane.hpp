// SPDX-License-Identifier: BSD-3-Clause
// The recipe's rules for single numbers: the CPU engine and the device's kernels both call these,
// and neither has one of its own. What is decided for a bundle is in recipe.hpp.
#pragma once

#include "fiberloom/extract/storable.hpp"

namespace fiberloom::exact {

// ---- prior

/// Bins with more than this part of their light on good pixels make the median of the diagonal.
inline constexpr double kInMedianAbove = 0.5;
/// Prior of unconstrained bins, relative to that median.
inline constexpr double kPrior = 1e-9;

/// An element of the diagonal of N with its prior. A bin without any good pixel meets no other, and
/// any prior gives the same answer elsewhere: a strong one keeps the condition number what the data
/// make it.
FL_LANE_HD inline double with_prior(double diagonal, double phi, double median, double ridge,
                                    double weak_prior) {
  if (diagonal == 0.0) return median;
  return diagonal + (phi < kUnconstrainedBelow ? kPrior * median : ridge + weak_prior * median);
}

// ---- solve

/// How far the conjugate gradients of a bundle have come; rz = r^T M^-1 r.
struct SolveProgress {
  double rz = 0, best = 0;
  int iterations = 0, stalled = 0;
};
FL_LANE_HD inline SolveProgress begin_solve(double rz) { return {rz, rz, 0, 0}; }

FL_LANE_HD inline bool goes_on(const SolveProgress& s, double tolerance_sigma,
                               int most_iterations) {
  constexpr int kPatience = 12;  // iterations without half the error
  return s.stalled <= kPatience && s.rz > tolerance_sigma * tolerance_sigma &&
         s.iterations < most_iterations;
}

/// After an iteration that left `rz`; returns beta, by which the last direction counts.
FL_LANE_HD inline double note_iteration(SolveProgress& s, double rz) {
  const double beta = rz / s.rz;
  s.rz = rz;
  ++s.iterations;
  s.stalled = s.rz < 0.5 * s.best ? 0 : s.stalled + 1;
  s.best = s.rz < s.best ? s.rz : s.best;
  return beta;
}

// ---- diagnostics

/// No input leads to more light; sums of it stay finite in float32.
inline constexpr double kMostFlux = 1e30;
FL_LANE_HD inline double light_of(double flux) {
  return flux < -kMostFlux ? -kMostFlux : kMostFlux < flux ? kMostFlux : flux;
}

/// w (p - m)^2 / (1 + w (psferr m)^2), at most kMostChi2.
template <class V>
FL_LANE_HD inline V pixel_chi2(V weight, V pixel, V model, V psferr) {
  const V d = pixel - model, error = psferr * model;
  return min(weight * d * d / fma(weight * error, error, V(1.0)), V(kMostChi2));
}

/// Part of a bin's light that no good pixel saw. A whole spot sums to 1 up to rounding: less than
/// that is no masked light.
FL_LANE_HD inline double lost_share(double whole, double phi) {
  const double lost = whole - phi;
  return lost > 1e-12 ? lost : 0.0;
}

/// Model of a pixel in units of its sigma from which its residual tells the error of the PSF.
inline constexpr double kBrightPixel = 100;
FL_LANE_HD inline bool is_bright(double weight, double model) {
  return weight * model * model > kBrightPixel * kBrightPixel;
}
/// (noise / model)^2 of such a pixel.
FL_LANE_HD inline double bright_noise2(double weight, double model) {
  const double noise = 1 / (::sqrt(weight) * ::fabs(model));
  return noise * noise;
}
/// Where a bright pixel counts that is off by this part of its model: kFitSteps steps an octave,
/// from 2^-kFitOctaves to 1.
inline constexpr int kFitOctaves = 24, kFitSteps = 16, kFitBins = kFitOctaves * kFitSteps;
FL_LANE_HD inline int fit_bin(double off) {
  const double size = ::fabs(off), octave = kFitOctaves + ::log2(size < 1e-30 ? 1e-30 : size);
  const int at = static_cast<int>(octave * kFitSteps);
  return at < 0 ? 0 : at < kFitBins ? at : kFitBins - 1;
}

// ---- bounds of a root

/// The first guess of a lower bound on the spectrum; `norm`: largest entry of the solution for a
/// vector of alternating signs, about 1 / lambda.
FL_LANE_HD inline double first_bound(double norm, double high) {
  const double guess = 0.9 / norm, most = 0.9 * high;
  return most < guess ? most : guess;
}
/// Whether a guess is worth another factor, after so many.
FL_LANE_HD inline bool worth_proving(double low, double high, int factors) {
  constexpr double kLeastRatio = 1e-20;
  constexpr int kMostFactors = 60;
  return factors < kMostFactors && low > kLeastRatio * high;
}
FL_LANE_HD inline double next_bound(double low) { return 0.4 * low; }

/// What dS changes in a bin, in sigma, per unit of |dS|: Q changes by the solution X of Q X + X Q =
/// dS, about dS / (2 sqrt(lambda)) with the local 1 / lambda = |inverse|; X acts on x and, through
/// s = Q 1, once more on the flux; where there is no flux ivar and R change all the same, as if x
/// were its own sigma. No branch, so that a compiler can take lanes together.
FL_LANE_HD inline double row_weight(double diagonal, double x, double inverse) {
  const double sigma = 1.0 / ::sqrt(diagonal < 1e-300 ? 1e-300 : diagonal);
  return (::fabs(x) + (diagonal > 0 ? sigma : 0.0)) * ::sqrt(::fabs(inverse));
}

/// Entries behind a diagonal, which fall by `decay` from one to the next, in units of its own.
FL_LANE_HD inline double tail_of(double decay) { return decay / (1.0 - decay); }
/// The first diagonal that tells what is cut off where diagonals up to `kept` of `band` stay.
FL_LANE_HD inline int first_cut_off(int kept, int band) {
  return kept + 1 < band ? kept + 1 : band;
}
/// How often an entry of diagonal d counts then: on both sides where it is cut off, and the last
/// for those behind it, which nobody knows.
FL_LANE_HD inline double cut_off_share(int d, int kept, int band, double tail) {
  const double known = d > kept ? 2.0 : 0.0, behind = d == band ? 2.0 * tail : 0.0;
  return known + behind;
}
/// What an entry between two rows does to the worse of them.
FL_LANE_HD inline double entry_error(double share, double entry, double here, double there) {
  return share * ::fabs(entry) * (here < there ? there : here);
}

// ---- poles

/// Relative error of a root that may be wrong by `root_tolerance` sigma in a bin of that signal.
FL_LANE_HD inline double pole_tolerance(double root_tolerance, double signal) {
  const double tolerance = root_tolerance / (1.0 + signal);
  return tolerance < 1e-14 ? 1e-14 : tolerance;
}
/// The error of a root in sigma of the brightest bin.
FL_LANE_HD inline double root_sigma(double error, double signal) { return error * (1 + signal); }

// ---- parts of the axis

/// What is left out for an entry of the last diagonal, in row j, that is beyond what is allowed:
/// its two bins with all between, and those beside them, which may be as ill off: so many bins
/// before j and behind it.
FL_LANE_HD inline int left_before(int band) { return band; }
FL_LANE_HD inline int left_behind(int band) { return 2 * band; }

// ---- results

/// The window whose core holds bin j, counted from the first window's; bins behind are the last's.
FL_LANE_HD inline int window_of(int j, int stride, int count) {
  return j / stride < count - 1 ? j / stride : count - 1;
}

/// By how much two answers differ, in sigma: Q x and s = Q 1 of both.
FL_LANE_HD inline double seam_of(double x0, double s0, double x1, double s1) {
  const double x = ::fabs(x0 - x1), s = s1 > 0 ? ::fabs(s0 - s1) / s1 * (1.0 + ::fabs(x1)) : 0.0;
  return x < s ? s : x;
}

/// What leaves of a bin, zeros where it has no information; inverse_sum scales its row of R.
struct BinResult {
  double flux, ivar, xflux, inverse_sum;
};
FL_LANE_HD inline BinResult bin_result(double phi, double q1, double qx, double x, double width_aa,
                                       bool drowned) {
  const double flux = qx / q1 / width_aa, ivar = q1 * q1 * width_aa * width_aa,
               xflux = x / width_aa;
  const bool good = phi >= kUnconstrainedBelow && q1 > 0 && !drowned && storable(flux, ivar, xflux);
  return good ? BinResult{flux, ivar, xflux, 1.0 / q1} : BinResult{0.0, 0.0, 0.0, 0.0};
}

}  // namespace fiberloom::exact
