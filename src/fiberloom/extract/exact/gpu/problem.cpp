// SPDX-License-Identifier: BSD-3-Clause
// A camera's bundles beside each other, and what of them the device cannot treat.
#include "fiberloom/extract/exact/gpu/problem.hpp"

#include <algorithm>
#include <utility>

#include "fiberloom/extract/exact/bundle_extent.hpp"
#include "fiberloom/extract/exact/gpu/kernels.hpp"
#include "fiberloom/extract/exact/recipe.hpp"

namespace fiberloom::exact::gpu {

namespace {

/// Of the own blocks' windows. Half of the fibres are solved for at a time, a thread a window: what
/// counts is how many rows one has after the other.
constexpr int kSolveCore = 64;

std::string why_not(const CameraBundle& b) {
  const BundleGeometry& g = b.geometry;
  if (g.sweep_reach > 1) return "second neighbours matter";
  if (g.reach > 2) return "spots of third neighbours meet";
  if (round_up_band(g.band) > kWidestOfThread || g.cross_band > kWidestCoupling)
    return "spots of bins far apart share rows";
  if (!std::all_of(b.extents.begin(), b.extents.end(),
                   [](const FiberExtent& e) { return e.plain; }))
    return "a trace turns back";
  return {};
}

void add_bundle(Problem& p, const CameraBundle& bundle, std::size_t index) {
  const BundleGeometry& g = bundle.geometry;
  p.device_bundle.push_back(index);
  p.own_band = std::max(p.own_band, g.band);
  p.band = round_up_band(p.own_band);
  p.cross_band = std::max(p.cross_band, g.cross_band);
  p.reach = std::max(p.reach, g.reach);
  p.strip_x.push_back(g.x0);
  p.strip_pitch = std::max(p.strip_pitch, g.columns + kLanes);
  p.fit_first.push_back(bundle.fit.first);
  p.fit_last.push_back(bundle.fit.last);
  for (int f = 0; f < g.nfiber; ++f) {
    p.psf_fiber.push_back(g.first_fiber + f);
    p.bundle_of.push_back(p.nbundle() - 1);
    const FiberExtent& e = bundle.extents[static_cast<std::size_t>(f)];
    p.live_first.push_back(std::clamp(bundle.lit.first, e.first, e.last));
    p.live_last.push_back(std::clamp(bundle.lit.last, e.first, e.last));
    p.direction.push_back(e.direction);
    p.light_columns = std::max(p.light_columns, p.plan.nx + e.bends);
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
    const CameraBundle& from = (*p.camera)[p.device_bundle[bundle]];
    for (int f = 0; f < from.geometry.nfiber; ++f) {
      const auto fiber = static_cast<std::size_t>(p.bundle_first[bundle] + f);
      const auto at = static_cast<long>(fiber * pitch), first = static_cast<long>(f) * p.nbin;
      std::copy_n(from.x0.begin() + first, p.nbin, p.trace_x0.begin() + at);
      std::copy_n(from.y0.begin() + first, p.nbin, p.trace_y0.begin() + at);
      std::copy_n(from.live.begin() + first, p.nbin, p.live.begin() + at);
    }
  });
}

/// Whole packs of fibres of a kind.
void order_solve(Problem& p) {
  for (const auto kind : {&SolveOrder::iterated, &SolveOrder::eliminated}) {
    for (int b = 0; b < p.nbundle(); ++b) {
      const EverySo fibers = solve_order(p.fibers_of(b), p.geometry_of(b).reach).*kind;
      for (int i = 0; i < fibers.count(p.fibers_of(b)); ++i)
        p.solve_fiber.push_back(p.bundle_first[static_cast<std::size_t>(b)] + fibers.first +
                                i * fibers.step);
    }
    p.solve_fiber.resize(static_cast<std::size_t>(padded(static_cast<long>(p.solve_fiber.size()))),
                         -1);
    if (kind == &SolveOrder::iterated) p.iterated_slots = static_cast<int>(p.solve_fiber.size());
  }
  for (int b = 0; b < p.nbundle(); ++b)
    p.solve_step.push_back(solve_order(p.fibers_of(b), p.geometry_of(b).reach).iterated.step);
}

/// Rows of the last window behind the last bin.
int rows_over(const Cut& c, int bins) { return c.first(c.count - 1) + c.rows - bins; }

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
Cut Problem::sweep_cut(int bins, int core) const {
  Cut cut = short_windows(bins, core, sweep_skirt());
  cut.rows = cut.skirt + cut.stride;  // a factor comes from above
  return cut;
}

int Problem::sweep_margin(int bins) const {
  // windows are read up to kMostInRegisters rows past their ends
  static_assert(lane::kMostInRegisters <= 2 * kLanes);
  return std::max({rows_over(sweep_cut(bins), bins), 2 * grid.guard + kLanes,
                   grid.guard + kWidestBand + kWidestCoupling}) +
         2 * kLanes;
}

Problem make_problem(const PsfModel& psf, const ExtractOptions& options, const Tuning& tuning,
                     Isa isa, GeometryStore& store, Executor& executor, const Observer& observer) {
  require_step(psf, options, grid_size(options.wave));
  Problem p;
  p.options = options;
  p.tuning = tuning;
  p.grid = guard_grid(psf, options.wave);
  p.plan = make_spot_plan(psf, p.grid.wave);
  p.psferr = psferr_of(psf, options);
  p.weak_prior = weak_prior(psf, options, observer);
  p.bundles = wanted_bundles(psf, options);
  CameraKey key{std::move(p.plan), p.bundles, p.grid.guard, tuning.coupling_floor, isa};
  p.camera = store.get(key, executor);
  p.plan = std::move(key.plan);
  p.nbin = p.plan.nwave;
  p.bundle_first = {0};
  for (std::size_t b = 0; b < p.bundles.size(); ++b) {
    const std::string reason = why_not((*p.camera)[b]);
    if (reason.empty()) {
      add_bundle(p, (*p.camera)[b], b);
    } else {
      p.left.push_back({b, reason});
    }
  }
  if (p.nbundle() == 0) return p;
  place_rows(p);
  pack_traces(p, executor);
  order_solve(p);
  // what is eliminated is solved for once: the guard leaves 1e-10 of what lies beyond a window,
  // this 1e-13
  p.solve_cut = short_windows(p.nbin, kSolveCore, (4 * p.grid.guard + 2) / 3);
  p.margin = std::max(p.sweep_margin(p.nbin), rows_over(p.solve_cut, p.nbin) + 2 * kLanes);
  return p;
}

}  // namespace fiberloom::exact::gpu
