// SPDX-License-Identifier: BSD-3-Clause
// Maximum-likelihood maps: P^T W P m = P^T W d, W the inverse covariance of each stream's samples
// as a banded Toeplitz matrix. Samples that are left out are unknowns of their own, so that what is
// known of the noise reaches across them. Of several processes each has streams of its own, and the
// pixels that these hit: equal in all that share them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "loom/base/work_pool.hpp"
#include "loom/fft/toeplitz.hpp"
#include "skyloom/mapping/offset_system.hpp"
#include "skyloom/mapping/solve.hpp"

namespace skyloom {

/// A detector's samples of an observation, 12 bytes each.
struct GlsStream {
  std::vector<std::uint32_t> unknowns;  ///< number of the pixel, or kGap
  std::vector<float> q, u;
  std::size_t filter = 0;  ///< which of the filters
  std::size_t gaps = 0;    ///< samples that are left out
};
inline constexpr std::uint32_t kGap = 0xFFFFFFFFU;

class GlsSystem {
 public:
  /// `pixels` says which tiles are hit, and which processes share them; `inverses`, in its order,
  /// are the preconditioner's matrices of white noise: where one is 0 the pixel is not solved for.
  /// `sums`, those of all data, and the company of `pixels` outlive this.
  GlsSystem(const OffsetSystem& pixels, const SkySums& sums, const TileMatrices& inverses);

  std::size_t add_filter(std::vector<double> lags);
  /// The number of a pixel among those that are solved for; kGap: it is none of them.
  [[nodiscard]] std::uint32_t number_of(Pixel pixel) const;
  /// Adds streams with their signals, whose values in gaps do not count. Sums have the order in
  /// which streams are added, whatever the threads.
  void add(std::vector<GlsStream> streams, std::vector<std::vector<double>> signals,
           Executor& executor);

  /// After all streams, and before what follows, by all processes together.
  void finish();

  /// The preconditioner is the pixels' own 3 x 3 matrices of white noise. All processes together,
  /// as of apply().
  [[nodiscard]] Solution solve(const SolveLimits& limits, Executor& executor,
                               const Observer& observer = {}, SolverMemory* memory = nullptr) const;
  void apply(std::span<const double> x, std::span<double> out, Executor& executor) const;
  void precondition(std::span<const double> r, std::span<double> out, Executor& executor) const;

  [[nodiscard]] std::size_t size() const noexcept { return 3 * inverses_.size() + gaps_; }
  /// Samples that are unknowns of their own.
  [[nodiscard]] std::size_t gaps() const noexcept { return gaps_; }
  [[nodiscard]] std::span<const double> right_side() const noexcept { return right_side_; }
  [[nodiscard]] std::span<const fft::ToeplitzFilter> filters() const noexcept { return filters_; }
  /// Of hit tiles in the order of the offset system, NaN where cut.
  [[nodiscard]] TileMaps maps(const std::vector<double>& x) const;
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  struct Work {
    std::vector<double> samples, filtered;
    fft::ToeplitzWork toeplitz;
  };
  /// to += P^T of these samples; their gaps go to `gaps`.
  static void project(const GlsStream& stream, std::span<const double> samples, double* to,
                      double* gaps);
  /// Groups of streams that have sums of their own in a step: as many as take less memory than the
  /// samples, sixteen at most.
  [[nodiscard]] std::size_t groups() const noexcept;
  /// The sum of `parts` in their order, of values [first, end) of pixels.
  static void add_up(const std::vector<std::vector<double>>& parts, std::size_t first,
                     std::size_t end, std::span<double> out, Executor& executor);
  void number_pixels(const OffsetSystem& pixels, const TileMatrices& inverses);
  /// Values of shared pixels become those of all processes; `meanwhile` is done while they travel.
  template <class Meanwhile>
  void sum_shared(std::span<double> values, const Meanwhile& meanwhile) const;

  const SkySums& sums_;
  Company* company_;
  std::size_t others_ = 0;  ///< pixels that another process tells of: the first ones
  std::size_t shared_ = 0;  ///< pixels that another process has as well: those, and the next ones
  /// First pixel and number of them in each tile that is shared, in the company's order.
  std::vector<std::pair<std::size_t, std::size_t>> shared_tiles_;
  std::vector<std::vector<std::uint32_t>> numbers_;  ///< of the pixels of hit tiles
  std::vector<std::int32_t> hit_number_;             ///< of each tile; -1: not hit
  std::vector<Symmetric3> inverses_;
  std::vector<fft::ToeplitzFilter> filters_;
  std::vector<GlsStream> streams_;
  std::vector<std::size_t> first_gaps_;  ///< of each stream, among all gaps
  std::size_t gaps_ = 0, samples_ = 0;
  std::vector<double> right_side_;
  mutable WorkPool<Work> works_;
};

}  // namespace skyloom
