// SPDX-License-Identifier: BSD-3-Clause
// Light that spots have beyond their stamps: the tails of a GAUSS-HERMITE PSF up to a given
// distance, everywhere on the CCD. Knows neither noise nor engines.
#pragma once

#include <vector>

#include "fiberloom/psf/psf_model.hpp"
#include "fiberloom/psf/spot_plan.hpp"
#include "loom/base/array.hpp"
#include "loom/base/executor.hpp"
#include "loom/base/interval.hpp"
#include "loom/base/log.hpp"

namespace fiberloom {

using loom::Interval;

/// How far wings may reach, pixels.
inline constexpr Interval kWingReach = loom::between(10, 500);

/// Wings of a PSF on one grid, or on a grid for each fibre. Tails are those of PsfTails, divided by
/// what makes the stamp's sum 1, in the 2 reach + 1 rows around the spot's middle and, in each, as
/// many columns around the trace there, less the stamp: where the stamp ends its formula goes on.
/// Evaluated as a sum of Gaussians, to some 1e-3 of itself (docs/fiberloom/algorithm.md).
class WingModel {
 public:
  /// `grids`: one for all fibres, or one each. Throws kUsage where the PSF has no tails that are
  /// switched on, where they do not fall with distance, or where the reach stays in the stamp.
  WingModel(const PsfModel& psf, std::vector<std::vector<double>> grids, int reach);

  /// The light beyond all stamps [npix_y][npix_x] of `electrons` [nfiber][nwave], the light in each
  /// stamp of a bin. Same bytes for any executor.
  [[nodiscard]] Array2D<float> project(View2D<const double> electrons, Executor& executor,
                                       const Observer& observer = {}) const;
  /// Light beyond the stamp, as a share of that in it; [nfiber][nwave]. Counts what falls off the
  /// CCD, too, as stamps do.
  [[nodiscard]] Array2D<double> shares(Executor& executor) const;

  /// Traces of a fibre on its grid.
  [[nodiscard]] FiberTrace trace(int fiber) const;
  [[nodiscard]] std::size_t nwave() const { return grids_.front().size(); }

 private:
  struct Tails;
  struct Tile;
  struct Strip;
  struct Group {
    int first = 0, last = 0;  ///< fibres
    int low = 0, high = 0;    ///< columns of the CCD that their wings touch
  };
  [[nodiscard]] const std::vector<double>& grid(int fiber) const {
    return grids_[grids_.size() == 1 ? 0 : static_cast<std::size_t>(fiber)];
  }
  [[nodiscard]] Tails tails_at(int fiber, double wave_aa) const;
  [[nodiscard]] std::vector<Tile> tiles_of(int fiber) const;
  void project_fiber(int fiber, const double* electrons, const Group& group, Strip& strip) const;
  void spread_rows(std::size_t first, const Tile& tile, const Group& group, Strip& strip) const;
  void project_group(const Group& group, View2D<const double> electrons,
                     Array2D<float>& image) const;

  const PsfModel& psf_;
  std::vector<std::vector<double>> grids_;
  SpotPlan plan_;  ///< of one grid for all
  int reach_;
  std::size_t tile_bins_;
  std::vector<Group> groups_;
};

}  // namespace fiberloom
