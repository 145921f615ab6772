// SPDX-License-Identifier: BSD-3-Clause
// Normal equations of all targets at once, with the mean of their resolutions in place of each
// one's: M_ab(t) = sum_i w_t(i) (B_a B_b)(i) is a product of two matrices, and so is y. Factors are
// floats, and so are sums over a tile: that errs by less than the mean resolution does.
#pragma once

#include <vector>

#include "fiberloom/redshift/fitter.hpp"
#include "loom/base/executor.hpp"

namespace fiberloom::redshift {

class FastScan {
 public:
  FastScan() = default;
  FastScan(const TargetSet& set, Executor& executor);

  /// Powers of two that bring a template's vectors to where floats have room, whatever their units.
  struct Scales {
    std::vector<double> of_vector;  ///< [nb]: what products() takes
    /// [normal_size]: what a one in the sums of a column stands for, but for the target's unit.
    std::vector<double> unit;
  };
  struct Scratch {
    Scales scales;
    Buffer<float> columns;
    Buffer<double> normal;
    std::size_t doubles = 0;
    [[nodiscard]] const double* normal_of(std::size_t target) const noexcept {
      return normal.data() + target * doubles;
    }
  };
  /// One wavelength grid: what a device takes too (gpu/).
  struct Grid {
    std::size_t padded = 0;
    Buffer<double> rows;  ///< mean resolution [padded][ndiag]
    /// Weight and weight x flux in tiles: [tile][group of targets][pixel][kGatherTargets], in units
    /// of the target's.
    Buffer<float> weight, weighted_flux;
  };
  [[nodiscard]] const std::vector<Grid>& grids() const noexcept { return grids_; }
  /// Groups of kGatherTargets targets.
  [[nodiscard]] std::size_t groups() const noexcept { return groups_; }
  [[nodiscard]] std::size_t ndiag() const noexcept { return ndiag_; }
  /// Powers of two, [groups() x kGatherTargets]: what a one in `weight` and in `weighted_flux` is.
  [[nodiscard]] const std::vector<double>& weight_unit() const noexcept { return weight_unit_; }
  [[nodiscard]] const std::vector<double>& flux_unit() const noexcept { return flux_unit_; }
  [[nodiscard]] static Scales scales(const Template& t);
  [[nodiscard]] Scratch scratch(const Fitter& fitter) const;
  /// scratch.normal becomes the normal equations of all targets for the redshifts of the pack, of
  /// the pixels within `reach`.
  void accumulate(const Fitter& fitter, std::span<const Sampler::Reach> reach, const double* pack,
                  Scratch& scratch) const;

 private:
  void find_units(const PreparedTarget& target, std::size_t t);
  [[nodiscard]] Grid grid_of(const TargetSet& set, std::size_t g, Executor& executor) const;
  /// A tile of it.
  void fill_tile(const TargetSet& set, std::size_t g, std::size_t tile, Grid& grid) const;
  /// Adds the sums over `count` pixels of a tile, in the units of scales.
  void gather_tile(const Fitter& fitter, std::size_t grid, std::size_t tile, std::size_t count,
                   Scratch& scratch) const;
  void give_units(const Fitter& fitter, Scratch& scratch) const;

  std::size_t groups_ = 0, ndiag_ = 1;
  bool with_sky_ = false;
  std::vector<Grid> grids_;
  std::vector<double> weight_unit_, flux_unit_;
};

}  // namespace fiberloom::redshift
