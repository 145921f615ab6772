// SPDX-License-Identifier: BSD-3-Clause
// What a step of the solver does with a run, a pixel and a baseline: one text for the CPU's loops
// and for a device's threads. Plain data only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "loom/base/scalar_lane.hpp"
#include "skyloom/mapping/symmetric3.hpp"

namespace skyloom {

/// Sums over the samples of a run of 1, q and u: what a step of the solver needs of it.
struct Run {
  double q = 0, u = 0;
  float n = 0;              ///< a whole number, exact
  std::uint16_t place = 0;  ///< of the pixel in its tile
};
static_assert(sizeof(Run) == 24);

/// What covariance and binned map need of it beside that.
struct RunProducts {
  double qq = 0, qu = 0, uu = 0;
  double d = 0, dq = 0, du = 0;  ///< of the signal d
};

/// A run that samples are added to.
struct RunSums {
  double n = 0, q = 0, u = 0;
  RunProducts products;
};
/// Sums over unknowns go by blocks of so many, whoever makes them: their order is that of blocks,
/// not of threads.
inline constexpr int kSumBlock = 1 << 13;
inline constexpr double kMostSamples = 1 << 24;  ///< of a run: counted exactly in float

/// Runs of one baseline in one tile.
struct RunPart {
  std::uint64_t first_run = 0;
  std::uint32_t baseline = 0;
  std::uint32_t runs = 0;
};

namespace lane {

FL_LANE_HD inline void add_sample(double q, double u, double d, RunSums& to) noexcept {
  to.n += 1;
  to.q += q;
  to.u += u;
  to.products.qq += q * q;
  to.products.qu += q * u;
  to.products.uu += u * u;
  to.products.d += d;
  to.products.dq += d * q;
  to.products.du += d * u;
}

/// The offset `value` of its baseline, times the weight, into its pixel.
FL_LANE_HD inline void add_run(const Run& run, double value, Stokes& to) noexcept {
  to.i += value * static_cast<double>(run.n);
  to.q += value * run.q;
  to.u += value * run.u;
}

/// What its samples see of its pixel, summed.
FL_LANE_HD inline double take_run(const Run& run, const Stokes& from) noexcept {
  return static_cast<double>(run.n) * from.i + run.q * from.q + run.u * from.u;
}

/// A residual through the diagonal preconditioner; a baseline that is left out stays 0.
FL_LANE_HD inline double over_diagonal(double r, double diagonal) noexcept {
  return diagonal > 0 ? r / diagonal : 0;
}

/// `from` less the weight times the sum of a baseline's parts, which stand at `places`.
FL_LANE_HD inline double collect(double from, double weight, const double* parts,
                                 const std::uint32_t* places, std::size_t first,
                                 std::size_t end) noexcept {
  double sum = 0;
  for (std::size_t k = first; k < end; ++k) sum += parts[places[k]];
  return from - weight * sum;
}

}  // namespace lane
}  // namespace skyloom
