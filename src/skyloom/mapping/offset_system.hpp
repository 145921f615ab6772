// SPDX-License-Identifier: BSD-3-Clause
// Destriping with compressed pointing: A a = b for the offsets of all baselines, A = M^T N^-1 Z M,
// tile by tile of the sky. Pixels are private to a tile and tiles to a thread: no atomics, and the
// same bytes for any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "loom/base/array.hpp"
#include "loom/base/executor.hpp"
#include "skyloom/mapping/company.hpp"
#include "skyloom/mapping/sky_sums.hpp"

namespace skyloom {

struct SolveOptions {
  double least_reciprocal = 1e-8;  ///< of a pixel's condition number: below it is cut
  double good_fraction = 0.5;      ///< a baseline with no more good samples is left at 0
  bool may_be_empty = false;       ///< all pixels cut: a system without baselines, no error
};

/// Values of the pixels of hit tiles, in the order of OffsetSystem::hit_tiles().
using TileMaps = std::vector<std::vector<Stokes>>;
/// The same of (P^T N^-1 P)^-1, 0 where cut.
using TileMatrices = std::vector<std::vector<Symmetric3>>;

/// What apply() works on, for who does it elsewhere.
struct OffsetView {
  std::span<const Run> runs;                    ///< by tile
  std::span<const RunPart> parts;               ///< by tile
  std::span<const std::size_t> tile_parts;      ///< where each hit tile's parts begin, and an end
  std::span<const std::size_t> baseline_parts;  ///< where each baseline's places begin, and an end
  std::span<const std::uint32_t> part_places;
  std::span<const double> weights, diagonal;  ///< of baselines
  std::span<const std::size_t> shared;        ///< hit tiles that other processes hit too, growing
};

class OffsetSystem {
 public:
  /// Takes the streams apart: they are empty of products afterwards. Throws kNoGoodData where no
  /// pixel (but see may_be_empty) or no baseline is left.
  /// `company`: other processes with other streams of the same system, whose sums are merged; none:
  /// alone. Then every verb that gets an executor is called by all of them together.
  OffsetSystem(const SkySums& sums, std::vector<Stream>& streams, const SolveOptions& options,
               Executor& executor, Company* company = nullptr);

  /// Offsets of own streams, and of all processes.
  [[nodiscard]] std::size_t size() const noexcept { return diagonal_.size(); }
  [[nodiscard]] Company* company() const noexcept { return company_; }
  [[nodiscard]] std::span<const double> right_side() const noexcept { return right_side_; }
  /// |b| that is nothing but rounding of the sums which it is the difference of.
  [[nodiscard]] double rounding() const noexcept { return rounding_; }
  /// Whether A is more than 0 on a constant: a baseline that is left out has good samples, which
  /// stay in the map with the offset 0. Otherwise all offsets may move together.
  [[nodiscard]] bool knows_constant() const noexcept { return knows_constant_; }
  /// M^T N^-1 M, the preconditioner; 0 where a baseline is left out.
  [[nodiscard]] std::span<const double> diagonal() const noexcept { return diagonal_; }
  /// Of each stream: its first baseline.
  [[nodiscard]] std::span<const std::size_t> first_baselines() const noexcept { return firsts_; }
  /// out = A a.
  void apply(std::span<const double> a, std::span<double> out, Executor& executor) const;

  [[nodiscard]] OffsetView view() const noexcept {
    return {runs_,        parts_,   tile_parts_, baseline_parts_,
            part_places_, weights_, diagonal_,   shared_};
  }

  /// The maps (P^T N^-1 P)^-1 P^T N^-1 (d - M a) of hit tiles, NaN where cut. No `a`: binned.
  [[nodiscard]] TileMaps maps(const std::vector<double>* a, Executor& executor) const;
  /// The same of a part of the data, whose sums these are; `a` is 0 for all other baselines. NaN
  /// where the pixel is cut, in the part or in the whole.
  [[nodiscard]] TileMaps part_maps(const SkySums& part, const std::vector<double>* a,
                                   double least_reciprocal, Executor& executor) const;
  [[nodiscard]] std::span<const std::int32_t> hit_tiles() const noexcept { return hit_tiles_; }
  [[nodiscard]] const TileMatrices& inverses() const noexcept { return inverses_; }
  /// Those of a part's own data for all pixels of hit tiles: 0 where the pixel is cut, in the part
  /// or in the whole.
  [[nodiscard]] TileMatrices part_inverses(const SkySums& part, double least_reciprocal,
                                           Executor& executor) const;
  [[nodiscard]] std::size_t cut_pixels() const noexcept { return cut_pixels_; }
  [[nodiscard]] std::size_t cut_samples() const noexcept { return cut_samples_; }
  [[nodiscard]] std::size_t left_baselines() const noexcept { return left_baselines_; }
  [[nodiscard]] std::size_t runs() const noexcept { return runs_.size(); }
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  void invert_tiles(const SkySums& sums, const SolveOptions& options, Executor& executor);
  void drop_cut_runs(std::vector<Stream>& streams, Executor& executor);
  void judge_baselines(const std::vector<Stream>& streams, const SolveOptions& options);
  void sort_runs(std::vector<Stream>& streams, Executor& executor);
  void make_right_side(Executor& executor);
  /// P^T N^-1 M a of the pixels of hit tiles, of all processes.
  [[nodiscard]] TileMaps projected(std::span<const double> a, Executor& executor) const;
  [[nodiscard]] bool is_shared(std::size_t tile) const {
    return company_ != nullptr && company_->shared(hit_tiles_[tile]);
  }
  [[nodiscard]] bool counts(std::size_t tile) const {
    return company_ == nullptr || company_->owns(hit_tiles_[tile]);
  }
  void apply_tile(std::size_t tile, Stokes* z, double* parts) const;
  void add_tile(std::size_t tile, std::span<const double> a, double sign, Stokes* z) const;
  void take_tile(std::size_t tile, const Stokes* m, double* parts) const;
  void over_tiles(Executor& executor, const std::function<void(std::size_t, Stokes*)>& task) const;
  /// Lets the company add up values of shared tiles; `meanwhile` is done while they travel.
  template <class Meanwhile>
  void add_up(TileMaps& values, const Meanwhile& meanwhile) const;
  void collect(const double* parts, std::span<const double> from, std::span<double> out,
               Executor& executor) const;

  const SkySums& sums_;
  Company* company_;
  std::vector<std::size_t> shared_;  ///< hit tiles that other processes hit too
  std::vector<std::int32_t> hit_tiles_;
  std::vector<std::int32_t> hit_number_;  ///< of each tile; -1: not hit
  TileMatrices inverses_;
  std::vector<double> weights_;      ///< of each baseline's samples; 0 where it is left out
  std::vector<double> signal_;       ///< sum of each baseline's good samples, during set-up
  std::vector<std::size_t> groups_;  ///< where each group of hit tiles begins: a task of a step
  std::vector<double> diagonal_, right_side_;
  std::vector<std::size_t> firsts_;
  Buffer<Run> runs_;                     ///< by tile; places are those in the tile's list of pixels
  std::vector<RunPart> parts_;           ///< by tile
  std::vector<std::size_t> tile_parts_;  ///< where each hit tile's parts begin
  std::vector<std::size_t> baseline_parts_;  ///< where each baseline's places in part_places_ begin
  std::vector<std::uint32_t> part_places_;
  double rounding_ = 0;
  bool knows_constant_ = false;
  bool any_pixel_ = false;  ///< that is not cut, of any process
  std::size_t cut_pixels_ = 0, cut_samples_ = 0, left_baselines_ = 0;
};

}  // namespace skyloom
