// SPDX-License-Identifier: BSD-3-Clause
// Sizes of what the engines allocate, in the order in which they do. Whoever makes a workspace
// larger sees tests/fiberloom/cli/test_memory.py fail, and adds it here.
#include "fiberloom/recipes/engine_memory.hpp"

#include <cmath>

#include "fiberloom/extract/exact/bundle_extent.hpp"
#include "fiberloom/extract/exact/engine.hpp"
#include "fiberloom/extract/exact/fiber_correlation.hpp"
#include "loom/linalg/banded.hpp"
#include "loom/linalg/banded_lane.hpp"

namespace fiberloom {

using namespace exact;

namespace {

using Bytes = std::uint64_t;
constexpr double kDouble = sizeof(double), kFloat = sizeof(float), kPack = kLanes * kDouble;
/// Large buffers begin at huge pages, small ones fill chunks: what is lost so in a workspace.
constexpr double kRounding = 24 << 20;
/// Rows a bin below which the marginal precision needs more than the narrowest band.
constexpr double kWideBandBelow = 0.95;

int rounded_up(const auto& ladder, double value) {
  for (const int step : ladder) {
    if (step >= value) return step;
  }
  return ladder.back();
}

std::size_t bins_of(const FiberRange& asked, const GridSize& grid) {
  return static_cast<std::size_t>(std::max(asked.last - asked.first, 0)) * grid.nwave;
}

double result_bytes(double nspec, double nwave, double ndiag) {
  return nspec * nwave * (5 * kDouble + sizeof(std::uint32_t) + ndiag * kFloat);
}

/// Spots on a grid of nbin bins.
double plan_bytes(const PsfModel& psf, double nbin) {
  const double series = 9 + static_cast<double>(psf.gh.size());
  const double ncoef = static_cast<double>(psf.x.coef.cols());
  constexpr double kDomains = 2;
  return (kDouble + kFloat) * ncoef * (psf.nfiber() * series + kDomains * nbin);
}

struct ExactShape {
  double fibers, bins, pitch;  ///< bins: with guards; pitch: with margins
  double band, cross_band;     ///< of N
  double window_rows;
  int s_band;  ///< of S
};

/// exact::SolveWork: of fibres that are iterated, and of those between them.
double solve_bytes(const ExactShape& s) {
  const double between = std::floor(s.fibers / 2), band = rounded_up(kBands, s.band);
  const double packs = std::ceil((s.fibers - between) / kLanes) + std::ceil(between / kLanes);
  return 6 * s.fibers * s.pitch * kDouble + s.bins * kPack * (band + 1 + packs * (band + 1) + 1);
}

/// exact::NormalEquations, SolveWork.
double equations_bytes(const ExactShape& s) {
  const double n = s.fibers * s.pitch * kDouble;
  return n * (s.band + 1 + 2 * s.cross_band + 1 + 2) + solve_bytes(s);
}

/// exact::BundleRootWork.
double bundle_root_bytes(const ExactShape& s, double ndiag) {
  const double n = s.fibers * s.pitch * kDouble;
  const double entries = s.fibers * s.window_rows * kPack * (std::floor(ndiag / 2) + 1);
  return solve_bytes(s) + 6 * n + entries + s.window_rows * kPack * (kBands.back() + 3);
}

/// exact::FiberCorrelationWork.
double correlation_bytes(const ExactShape& s, int band, double ndiag, double decay) {
  const double row = s.window_rows * kPack;
  const double width = exact::inverse_root_width(band, decay);
  const double kept = exact::correlation_width(static_cast<int>(ndiag));
  const double roots = 3 * (2 * width + 17) * row + width * (2 * width + 17) * kPack;
  return roots + row * (2 * (2 * s.cross_band + 1) + 2 * width + 1 + 5 * (2 * kept + 1));
}

/// exact::FiberRoot of all fibres: of the whole axis, and of a part that is tried, with what it
/// takes the place of.
double gathered_bytes(const ExactShape& s, double ndiag) {
  constexpr double kCopies = 3;
  return kCopies * s.fibers * s.bins * ((std::floor(ndiag / 2) + 3) * kDouble + 1);
}

/// exact::MarginalWork, RootBuffers for one band of S.
double sweeps_bytes(const ExactShape& s, int band, double ndiag) {
  const double row = s.window_rows * kPack;
  const int half = rounded_up(kCouplings, s.cross_band);
  const int width = band + 2 * half;
  const double sweeps =
      row * (3.0 * band + 3 + (2.0 * width + 1) + (2.0 * half + 1)) + row * (band + 1) * s.fibers;
  const double roots = row * (2.0 * band + 8 + ndiag / 2 + 3);
  return sweeps + roots;
}

}  // namespace

EngineMemory exact_memory(const PsfModel& psf, const ExtractOptions& options,
                          const GridSize& grid) {
  const auto bundles = wanted_bundles(psf, options);
  const FiberRange asked = fibers_asked(psf, options);
  const double nwave = static_cast<double>(grid.nwave);
  const exact::Skirt skirt = skirt_of(psf, grid.step_aa);
  const double guard = skirt.bins;
  const BundleExtent extent = extent_of(psf, bundles, grid, guard);

  ExactShape shape{};
  shape.fibers = extent.fibers;
  shape.bins = nwave + 2 * guard;
  shape.pitch = shape.bins + 2 * (2 * guard + kLanes);
  shape.band = std::min<double>(extent.band, kBands.back());
  shape.cross_band = std::min<double>(extent.cross_band, kCouplings.back());
  const double windows = std::clamp(std::floor(shape.bins / (2 * std::max(guard, 1.0))), 1.0,
                                    static_cast<double>(kLanes));
  shape.window_rows = std::ceil(shape.bins / windows) + (windows > 1 ? 2 * guard : 0);
  const int narrow = rounded_up(kBands, std::max(shape.band + 1, options.ndiag / 2.0));
  const int wide = extent.rows_per_bin < kWideBandBelow ? kBands.back() : narrow;

  const double strip = extent.rows * extent.columns;
  const double traces = shape.fibers * shape.bins * 57;  // exact::BundleGeometry
  const double diagnosis = strip * kFloat + shape.fibers * shape.bins * kDouble;
  double task = strip * 2 * kDouble + traces + diagnosis + equations_bytes(shape) +
                sweeps_bytes(shape, wide, options.ndiag);
  if (wide > narrow) task += sweeps_bytes(shape, narrow, options.ndiag);  // outgrown, not freed

  if (refines(options)) {  // exact::RefineWork
    // five images of the strip, its states and fibres, and while all weights change their places
    task += strip * (5 * kFloat + 3 + 2 * kDouble) +
            shape.fibers * (shape.pitch + 3 * shape.bins) * kDouble;
  }
  task += options.decorrelate_fibers ? bundle_root_bytes(shape, options.ndiag)
                                     : gathered_bytes(shape, options.ndiag);
  if (options.fiber_correlation) task += correlation_bytes(shape, wide, options.ndiag, skirt.decay);
  if (!options.fiber_wave.empty())  // spots of a bundle on grids of its own
    task += shape.fibers * plan_bytes(psf, shape.bins);
  task += std::min(kRounding, 0.35 * task);

  double shared = result_bytes(asked.last - asked.first, nwave, options.ndiag) +
                  plan_bytes(psf, shape.bins) + 2 * kDouble * shape.bins;
  if (options.fiber_correlation) {
    shared += kFloat * options.ndiag * nwave * (asked.last - asked.first);
  }
  if (options.reject_nsig >= 0) {
    shared += kDouble * nwave * (asked.last - asked.first);
  }
  if (options.want_model) {
    shared += kFloat * (static_cast<double>(bundles.size()) * strip +
                        static_cast<double>(psf.npix_x) * psf.npix_y);
  }
  return {static_cast<Bytes>(shared), static_cast<Bytes>(task),
          std::max<std::size_t>(bundles.size(), 1), bins_of(asked, grid)};
}

EngineMemory patch_memory(const PsfModel& psf, const ExtractOptions& options,
                          const GridSize& grid) {
  const PatchOptions& o = options.patch;
  const auto bundles = wanted_bundles(psf, options);
  const FiberRange asked = fibers_asked(psf, options);
  const double pad = o.wavepad * (1 + o.wavepad_frac), step = std::max(o.nwavestep, 1);
  const double nwave = static_cast<double>(grid.nwave), nbin = nwave + 2 * pad + step;
  const BundleExtent extent = extent_of(psf, bundles, grid, pad);
  const double split = std::max(1.0, std::floor(extent.fibers / std::max(o.nsubbundles, 1)));
  const double solved = std::min(split + 2, extent.fibers), bins = step + 2 * pad;
  const double unknowns = solved * bins;
  const double spot = sizeof(Spot) + 16 + kDouble * psf.stamp_nx() * psf.stamp_ny();

  double shared =
      result_bytes(asked.last - asked.first, nwave, options.ndiag) + extent.fibers * nbin * spot;
  if (options.want_model) {
    shared += (kFloat + kDouble) * static_cast<double>(psf.npix_x) * psf.npix_y;
  }
  // products, their copy, what is added to it, the factor; beside the last the block of one fibre
  const double matrices = kDouble * (4 * unknowns * unknowns + 5 * bins * unknowns);
  const double pixels = 4 * kDouble * (bins * extent.rows_per_bin + 2 * psf.stamp_ny()) *
                        (solved / std::max(extent.fibers, 1.0) * extent.columns + psf.stamp_nx());
  const double patches = std::ceil(extent.fibers / split) * std::max(1.0, std::ceil(nwave / step));
  return {static_cast<Bytes>(shared), static_cast<Bytes>(matrices + pixels),
          static_cast<std::size_t>(patches), bins_of(asked, grid)};
}

}  // namespace fiberloom
