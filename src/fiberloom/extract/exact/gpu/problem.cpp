// SPDX-License-Identifier: BSD-3-Clause
// Geometry of all bundles, side by side, and what of it the device cannot treat.
#include "fiberloom/extract/exact/gpu/problem.hpp"

#include <algorithm>

#include "fiberloom/extract/exact/bundle_extent.hpp"
#include "fiberloom/extract/exact/gpu/kernels.hpp"

namespace fiberloom::exact::gpu {

namespace {

/// Bins of a core: short windows are free while threads are what is missing.
constexpr int kSweepCore = 32, kSolveCore = 128;

/// Live bins in one piece, their rows going one way: what LightKernel searches in.
struct LiveRange {
  int first = 0, last = 0, direction = 1;
  bool plain = true;
};
LiveRange live_range(const FiberTrace& t, int nbin) {
  LiveRange range;
  const auto is_live = [&](int j) { return t.live[static_cast<std::size_t>(j)] != 0; };
  while (range.first < nbin && !is_live(range.first)) ++range.first;
  range.last = nbin;
  while (range.last > range.first && !is_live(range.last - 1)) --range.last;
  if (range.first == range.last) return {0, 0, 1, true};
  const auto y0 = [&](int j) { return t.y0[static_cast<std::size_t>(j)]; };
  range.direction = y0(range.last - 1) >= y0(range.first) ? 1 : -1;
  for (int j = range.first; j < range.last; ++j) {
    if (!is_live(j)) range.plain = false;
    if (j > range.first && range.direction * (y0(j) - y0(j - 1)) < 0) range.plain = false;
  }
  return range;
}

std::string why_not(const BundleGeometry& g, const ExtractOptions& options, const Tuning& tuning) {
  if (g.sweep_reach > 1) return "second neighbours matter";
  if (g.reach > 2) return "spots of third neighbours meet";
  if (least_band(g, options, tuning) > kWidestBand || g.cross_band > kWidestCoupling) {
    return "spots of bins far apart share rows";
  }
  for (const FiberTrace& t : g.trace) {
    if (!live_range(t, g.nbin).plain) return "a trace turns back";
  }
  return {};
}

int most_bends(const FiberTrace& t, const LiveRange& range, int band) {
  int most = 0;
  for (int j = range.first; j < range.last; ++j) {
    for (int k = j + 1; k < std::min(range.last, j + band + 1); ++k) {
      most = std::max(
          most, std::abs(t.x0[static_cast<std::size_t>(k)] - t.x0[static_cast<std::size_t>(j)]));
    }
  }
  return most;
}

/// What a fibre's trace says to the kernels, found for all bundles at once: it takes as long as the
/// traces themselves.
struct FiberExtent {
  LiveRange range;
  int bends = 0;
};
std::vector<FiberExtent> fiber_extents(const BundleGeometry& g) {
  std::vector<FiberExtent> extents;
  for (const FiberTrace& t : g.trace) {
    const LiveRange range = live_range(t, g.nbin);
    extents.push_back({range, most_bends(t, range, g.band)});
  }
  return extents;
}

void add_bundle(Problem& p, const BundleGeometry& g, const std::vector<FiberExtent>& extents,
                std::size_t index) {
  p.device_bundle.push_back(index);
  p.own_band = std::max(p.own_band, g.band);
  p.band = round_up_band(p.own_band);
  p.cross_band = std::max(p.cross_band, g.cross_band);
  p.reach = std::max(p.reach, g.reach);
  p.strip_x.push_back(g.x0);
  p.strip_pitch = std::max(p.strip_pitch, g.columns + kLanes);
  const BinRange rows = fit_rows(g, p.plan, p.grid.guard);
  p.fit_first.push_back(rows.first);
  p.fit_last.push_back(rows.last);
  const BinRange lit = model_bins(g, p.grid.guard);
  for (int f = 0; f < g.nfiber; ++f) {
    p.psf_fiber.push_back(g.first_fiber + f);
    p.bundle_of.push_back(p.nbundle() - 1);
    const auto& [range, bends] = extents[static_cast<std::size_t>(f)];
    p.live_first.push_back(std::clamp(lit.first, range.first, range.last));
    p.live_last.push_back(std::clamp(lit.last, range.first, range.last));
    p.direction.push_back(range.direction);
    p.light_columns = std::max(p.light_columns, p.plan.nx + bends);
  }
  p.bundle_first.push_back(p.nfiber());
}

void place_rows(Problem& p) {
  int low = 1 << 24, high = -(1 << 24);
  for (int b = 0; b < p.nbundle(); ++b) {
    const BundleGeometry& g = p.geometry_of(b);
    low = std::min(low, g.y0);
    high = std::max(high, g.y0 + g.rows);
  }
  p.row_first = low;
  p.rows = high - low;
}

void pack_traces(Problem& p, Executor& executor) {
  const auto pitch = static_cast<std::size_t>(p.bin_pitch());
  const std::size_t size = pitch * static_cast<std::size_t>(p.nfiber());
  p.trace_x0.assign(size, 0);
  p.trace_y0.assign(size, 0);
  p.live.assign(size, 0);
  executor.run(p.device_bundle.size(), [&](std::size_t bundle) {
    const int b = static_cast<int>(bundle);
    const BundleGeometry& g = p.geometry_of(b);
    for (int f = 0; f < g.nfiber; ++f) {
      const FiberTrace& t = g.trace[static_cast<std::size_t>(f)];
      const auto fiber = static_cast<std::size_t>(p.bundle_first[static_cast<std::size_t>(b)] + f);
      const auto at = static_cast<long>(fiber * pitch);
      std::copy_n(t.x0.begin(), p.nbin, p.trace_x0.begin() + at);
      std::copy_n(t.y0.begin(), p.nbin, p.trace_y0.begin() + at);
      std::copy_n(t.live.begin(), p.nbin, p.live.begin() + at);
    }
  });
}

}  // namespace

Cut short_windows(int nbin, int core, int skirt) {
  Cut cut;
  cut.count = std::max(1, nbin / core);
  cut.stride = (nbin + cut.count - 1) / cut.count;
  cut.count = (nbin + cut.stride - 1) / cut.stride;  // no window without a core
  cut.skirt = cut.count > 1 ? skirt : 0;
  cut.rows = cut.stride + 2 * cut.skirt;
  return cut;
}

int Problem::half_of(int bundle) const { return round_up_coupling(geometry_of(bundle).cross_band); }
/// What is left out at both ends of a solve has fallen on its way there and on its way back: to
/// 1e-13 over two thirds of the guard.
int Problem::sweep_skirt() const { return (2 * grid.guard + 2) / 3; }
Cut Problem::sweep_cut() const {
  Cut cut = short_windows(nbin, kSweepCore, sweep_skirt());
  cut.rows = cut.skirt + cut.stride;  // a factor comes from above
  return cut;
}

Problem make_problem(const PsfModel& psf, const ExtractOptions& options, const Tuning& tuning,
                     Isa isa, Executor& executor, const Observer& observer) {
  require_step(psf, options, grid_size(options.wave));
  Problem p;
  p.options = options;
  p.tuning = tuning;
  p.grid = guard_grid(psf, options.wave);
  p.plan = make_spot_plan(psf, p.grid.wave);
  p.psferr = psferr_of(psf, options);
  p.weak_prior = weak_prior(psf, options, observer);
  p.bundles = wanted_bundles(psf, options);
  p.geometry.resize(p.bundles.size());
  std::vector<std::vector<FiberExtent>> extents(p.bundles.size());
  const auto spots = spot_kernels(isa).spots;
  executor.run(p.bundles.size(), [&](std::size_t b) {
    p.geometry[b] = bundle_geometry(p.plan, p.bundles[b], spots, tuning.coupling_floor);
    extents[b] = fiber_extents(p.geometry[b]);
  });
  p.nbin = p.plan.nwave;
  p.bundle_first = {0};
  for (std::size_t b = 0; b < p.bundles.size(); ++b) {
    const std::string reason = why_not(p.geometry[b], options, tuning);
    if (reason.empty()) {
      add_bundle(p, p.geometry[b], extents[b], b);
    } else {
      p.left.push_back({b, reason});
    }
  }
  if (p.nbundle() == 0) return p;
  place_rows(p);
  pack_traces(p, executor);
  // the preconditioner is the whole fibre's to what the guard leaves, 1e-10: far less than costs an
  // iteration
  p.solve_cut = short_windows(p.nbin, kSolveCore, p.grid.guard);
  const auto over = [&](const Cut& c) { return c.first(c.count - 1) + c.rows - p.nbin; };
  // windows are read up to kMostInRegisters rows past their ends
  static_assert(lane::kMostInRegisters <= 2 * kLanes);
  p.margin = std::max({over(p.sweep_cut()), over(p.solve_cut), 2 * p.grid.guard + kLanes,
                       p.grid.guard + kWidestBand + kWidestCoupling}) +
             2 * kLanes;
  return p;
}

}  // namespace fiberloom::exact::gpu
