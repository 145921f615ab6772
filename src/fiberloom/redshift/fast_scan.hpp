// SPDX-License-Identifier: BSD-3-Clause
// Normal equations of all targets at once, with the mean of their resolutions in place of each
// one's: M_ab(t) = sum_i w_t(i) (B_a B_b)(i) is a product of two matrices, and so is y.
#pragma once

#include <vector>

#include "fiberloom/redshift/fitter.hpp"

namespace fiberloom::redshift {

class FastScan {
 public:
  FastScan() = default;
  explicit FastScan(const TargetSet& set);

  struct Scratch {
    Buffer<double> blurred, columns, normal;
    std::size_t doubles = 0;
    [[nodiscard]] const double* normal_of(std::size_t target) const noexcept {
      return normal.data() + target * doubles;
    }
  };
  /// One wavelength grid: what a device takes too (gpu/).
  struct Grid {
    std::size_t padded = 0;
    Buffer<double> rows;  ///< mean resolution [padded][ndiag]
    /// Weight and weight x flux in tiles: [tile][group of targets][pixel][kGatherTargets].
    Buffer<double> weight, weighted_flux;
  };
  [[nodiscard]] const std::vector<Grid>& grids() const noexcept { return grids_; }
  /// Groups of kGatherTargets targets.
  [[nodiscard]] std::size_t groups() const noexcept { return groups_; }
  [[nodiscard]] std::size_t ndiag() const noexcept { return ndiag_; }
  [[nodiscard]] Scratch scratch(const Fitter& fitter) const;
  /// scratch.normal becomes the normal equations of all targets for the redshifts of the pack, of
  /// the pixels within `reach`.
  void accumulate(const Fitter& fitter, std::span<const Sampler::Reach> reach, const double* pack,
                  Scratch& scratch) const;

 private:
  std::size_t groups_ = 0, ndiag_ = 1;
  std::vector<Grid> grids_;
};

}  // namespace fiberloom::redshift
