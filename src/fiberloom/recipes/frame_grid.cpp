// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/frame_grid.hpp"

#include <cmath>

#include "fiberloom/astro/barycentric.hpp"
#include "fiberloom/recipes/barycentric.hpp"
#include "fiberloom/spectrum/wave_grid.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {
namespace {

void check(const ExtractJob& job) {
  const auto refuse = [](const char* why) { throw Error(Status::kUsage, why); };
  if (!job.wave_file.empty() && job.wave)
    refuse("--wavelength and --wave-file: expected one of them");
  if (job.wave_log10 && !job.wave) refuse("--wave-log10 goes with --wavelength wmin,wmax,dlog10");
}

/// The mean of the fibres' grids, which names bins where each fibre has its own.
std::vector<double> mean_grid(const Array2D<double>& grids) {
  std::vector<double> mean(grids.cols(), 0.0);
  for (std::size_t f = 0; f < grids.rows(); ++f) {
    for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += grids(f, j);
  }
  for (double& wave : mean) wave /= static_cast<double>(grids.rows());
  return mean;
}

void take_file(const ExtractJob& job, const FrameInputs& in, FrameGrid& grid) {
  const Array2D<double>& file = in.wave_file;
  const auto nfiber = static_cast<std::size_t>(in.psf->model.nfiber());
  grid.kind = "file";
  if (file.rows() == 1) {
    grid.written.assign(file.data(), file.data() + file.cols());
    return;
  }
  if (file.rows() != nfiber) {
    throw Error(kSizeMismatch, print("%s: grids of %zu fibres, the PSF has %zu: expected one grid, "
                                     "or one for each of them",
                                     job.wave_file.c_str(), file.rows(), nfiber));
  }
  if (job.method != Method::kExact) {
    throw Error(Status::kUnsupported,
                job.wave_file +
                    ": a grid for each fibre is of the exact method; --method patch has "
                    "one grid");
  }
  grid.fiber_written = file;
  grid.written = mean_grid(file);
}

/// A factor for each fibre of the PSF; fibres that FIBERMAP has no direction for get the frame's.
std::vector<double> fiber_factors(const FrameInputs& in, double of_frame,
                                  const Observer& observer) {
  const auto missing = [&](const char* what) {
    throw Error(
        Status::kMissingKeyword,
        in.fibermap_path + ": " + what + "; --barycentric-fibers needs TARGET_RA and TARGET_DEC");
  };
  if (!in.fibermap || in.fibermap->rows == 0) missing("no FIBERMAP");
  const Table map = to_table(*in.fibermap);
  const auto ra = map.column("TARGET_RA"), dec = map.column("TARGET_DEC");
  if (!ra || !dec) missing("FIBERMAP without a column of directions");
  const double mjd = find_pointing(in).mjd;
  std::vector<double> factors(static_cast<std::size_t>(in.psf->model.nfiber()), of_frame);
  std::size_t without = 0;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const bool there = f < ra->size() && std::abs((*ra)[f]) <= 720 && std::abs((*dec)[f]) <= 90;
    if (there) {
      factors[f] = astro::barycentric_factor(astro::kKittPeak, {(*ra)[f], (*dec)[f]}, mjd);
    } else {
      ++without;
    }
  }
  if (without > 0) {
    observer.warn(
        in.fibermap_path +
        print(": %zu fibres without a direction get the barycentric factor of the field", without));
  }
  return factors;
}

/// The fibres' grids, each divided by its factor.
Array2D<double> divide(const FrameGrid& grid, std::size_t nfiber) {
  Array2D<double> out(nfiber, grid.written.size());
  for (std::size_t f = 0; f < nfiber; ++f) {
    const double* from =
        grid.fiber_written.empty() ? grid.written.data() : grid.fiber_written.row(f);
    const double factor = grid.fiber_factor.empty() ? grid.heliocor : grid.fiber_factor[f];
    for (std::size_t j = 0; j < out.cols(); ++j) out(f, j) = from[j] / factor;
  }
  return out;
}

}  // namespace

FrameGrid frame_grid(const ExtractJob& job, const FrameInputs& in, const Observer& observer) {
  check(job);
  FrameGrid grid;
  if (job.barycentric) grid.heliocor = frame_barycentric_factor(in, observer);
  if (job.barycentric_fibers) grid.fiber_factor = fiber_factors(in, grid.heliocor, observer);
  if (!job.wave_file.empty()) {
    take_file(job, in, grid);
  } else {
    grid.range = wave_range(job, *in.psf);
    if (job.wave_log10) grid.kind = "log10";
    grid.written = job.wave_log10 ? log10_wave_grid(grid.range[0], grid.range[1], grid.range[2])
                                  : divided_grid(grid.range, 1);
  }
  const bool linear = job.wave_file.empty() && !job.wave_log10;
  if (linear) {
    grid.solved = divided_grid(grid.range, grid.heliocor);
  } else {
    const std::size_t n = grid.written.size();
    grid.solved = grid.written;
    for (double& wave : grid.solved) wave /= grid.heliocor;
    grid.range = {grid.written.front(), grid.written.back(), 1.0};
    if (n > 1) grid.range[2] = (grid.range[1] - grid.range[0]) / static_cast<double>(n - 1);
  }
  if (!grid.fiber_written.empty() || !grid.fiber_factor.empty())
    grid.fiber_solved = divide(grid, static_cast<std::size_t>(in.psf->model.nfiber()));
  return grid;
}

}  // namespace fiberloom
