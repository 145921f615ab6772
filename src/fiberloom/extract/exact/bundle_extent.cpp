// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/extract/exact/bundle_extent.hpp"

#include <algorithm>
#include <cmath>

#include "fiberloom/extract/exact/engine.hpp"
#include "fiberloom/extract/exact/geometry.hpp"
#include "loom/base/error.hpp"

namespace fiberloom {

using namespace exact;

GridSize grid_size(const std::vector<double>& wave) {
  GridSize size;
  size.nwave = wave.size();
  if (wave.empty()) return size;
  size.first_aa = wave.front();
  size.last_aa = wave.back();
  size.step_aa = wave.size() > 1 ? wave[1] - wave[0] : 1.0;
  for (std::size_t j = 2; j < wave.size(); ++j)
    size.step_aa = std::min(size.step_aa, wave[j] - wave[j - 1]);
  return size;
}

FiberRange fibers_asked(const PsfModel& psf, const ExtractOptions& o) {
  return {o.spec_min, std::min(o.spec_min + fiber_count(o, psf.nfiber()), psf.nfiber())};
}

BundleExtent extent_of(const PsfModel& psf, const std::vector<BundleRange>& bundles,
                       const GridSize& grid, double guard) {
  constexpr int kPlaces = 9;
  const double first = grid.first_aa - guard * grid.step_aa;
  const double span = grid.last_aa + guard * grid.step_aa - first;
  BundleExtent largest;
  double tilt = 0, most_rows = 0;  // between neighbours at one wavelength; a bin
  for (const BundleRange& bundle : bundles) {
    double x_low = 1e9, x_high = -1e9, y_low = 1e9, y_high = -1e9;
    for (int f = bundle.first; f < bundle.last; ++f) {
      const auto fiber = static_cast<std::size_t>(f);
      for (int i = 0; i < kPlaces; ++i) {
        const double wave = first + span * i / (kPlaces - 1);
        const double y = psf.y(fiber, wave), x = psf.x(fiber, wave);
        const bool known = wave >= psf.y.wave_min && wave <= psf.y.wave_max;  // else extrapolated
        if (!known || y < -psf.stamp_ny() || y > psf.npix_y + psf.stamp_ny()) continue;
        const double rows = std::abs(psf.y(fiber, wave + 0.5) - psf.y(fiber, wave - 0.5));
        if (rows > 0) largest.rows_per_bin = std::min(largest.rows_per_bin, rows * grid.step_aa);
        most_rows = std::max(most_rows, rows * grid.step_aa);
        if (f > bundle.first) tilt = std::max(tilt, std::abs(y - psf.y(fiber - 1, wave)));
        x_low = std::min(x_low, x);
        x_high = std::max(x_high, x);
        y_low = std::min(y_low, y);
        y_high = std::max(y_high, y);
      }
    }
    largest.fibers = std::max<double>(largest.fibers, bundle.last - bundle.first);
    largest.rows = std::max(largest.rows, y_high - y_low + 2 * psf.stamp_ny());
    largest.columns = std::max(largest.columns, x_high - x_low + 2 * psf.stamp_nx() + kLanes);
  }
  largest.rows =
      std::clamp<double>(largest.rows, psf.stamp_ny(), psf.npix_y + 2.0 * psf.stamp_ny());
  largest.columns = std::clamp<double>(largest.columns, psf.stamp_nx(), 2.0 * psf.npix_x + 100);
  largest.band = std::max(std::ceil(psf.stamp_ny() / largest.rows_per_bin) - 1, 0.0);
  if (most_rows > 0) largest.least_band = std::max(std::ceil(psf.stamp_ny() / most_rows) - 2, 0.0);
  largest.cross_band = largest.band + std::ceil(tilt / largest.rows_per_bin);
  return largest;
}

void require_step(const PsfModel& psf, const ExtractOptions& options, const GridSize& grid) {
  if (grid.nwave < 2) return;
  const BundleExtent extent = extent_of(psf, wanted_bundles(psf, options), grid, 0);
  // what may do goes on, and require_bands() has the last word
  if (extent.least_band > std::min(kMostOwnBins, kMostCrossBins)) {
    throw too_fine(extent.band, extent.cross_band, grid.step_aa);
  }
}

}  // namespace fiberloom
