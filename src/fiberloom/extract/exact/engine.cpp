// SPDX-License-Identifier: BSD-3-Clause
// A frame: what its bundles share, then one task a bundle.
#include "fiberloom/extract/exact/engine.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>

#include "fiberloom/extract/exact/bundle_extent.hpp"
#include "fiberloom/extract/exact/fiber_correlation.hpp"
#include "fiberloom/extract/missing.hpp"
#include "fiberloom/extract/oversample.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/base/stop.hpp"

namespace fiberloom::exact {

namespace {

/// CCD rows a bin at the middle of the PSF: below this the pixels do not hold the information (0.4
/// A for DESI).
constexpr double kFinestRowsPerBin = 0.6;
/// Then every bin gets this, relative to the median diagonal: the weakest at which what the band of
/// S cuts off stays within the tolerance down to the finest step that is possible (1e-7: bound 0.02
/// sigma at 0.21 A; 1e-9: wrong by 100 sigma at 0.3 A).
constexpr double kWeakPrior = 1e-6;

double rows_per_bin(const PsfModel& psf, const std::vector<double>& wave) {
  if (wave.size() < 2) return 1.0;
  double step = wave[1] - wave[0];
  for (std::size_t j = 2; j < wave.size(); ++j) step = std::min(step, wave[j] - wave[j - 1]);
  const std::size_t middle = psf.x.coef.rows() / 2;
  const double center = 0.5 * (psf.y.wave_min + psf.y.wave_max);
  return rows_per_aa(psf, middle, center) * step;
}

}  // namespace

double weak_prior(const PsfModel& psf, const ExtractOptions& options, const Observer& observer) {
  const double rows = rows_per_bin(psf, options.wave);
  if (rows >= kFinestRowsPerBin) return 0.0;
  observer.warn("the wavelength step is finer than the pixels can carry (" + std::to_string(rows) +
                " CCD rows a bin): a weak prior keeps the equations solvable, errors are "
                "correlated");
  return kWeakPrior;
}

double psferr_of(const PsfModel& psf, const ExtractOptions& options) {
  return options.psferr < 0 ? psf.psferr : options.psferr;
}

ExtractResult empty_result(const PsfModel& psf, const ExtractOptions& options) {
  const auto nspec = static_cast<std::size_t>(fiber_count(options, psf.nfiber()));
  const std::size_t nwave = options.wave.size();
  ExtractResult result;
  result.wave = options.wave;
  result.spec_min = options.spec_min;
  if (options.fluxes_only) {
    result.xflux = Array2D<double>(nspec, nwave);
    return result;
  }
  for (auto* a :
       {&result.flux, &result.ivar, &result.xflux, &result.chi2pix, &result.pixmask_fraction}) {
    *a = Array2D<double>(nspec, nwave);  // the bundles write every row
  }
  if (options.reject_nsig >= 0) result.rejected_fraction = Array2D<double>(nspec, nwave, 0.0);
  const auto ndiag = static_cast<std::size_t>(options.ndiag);
  result.resolution = Array3D<float>(nspec, ndiag, nwave);
  if (options.fiber_correlation)
    result.fiber_correlation = Array3D<float>(nspec, ndiag, nwave, 0.0F);
  return result;
}

namespace {

std::string scientific(double x) { return print("%.2g", x); }

double finest_of(const ExtractOptions& options) {
  double step = finest_step(options.wave);
  const Array2D<double>& own = options.fiber_wave;
  for (std::size_t f = 0; f < own.rows(); ++f)
    step = std::min(step, finest_step({own.row(f), own.cols()}));
  return step;
}

/// Spots of a bundle whose fibres have grids of their own.
SpotPlan plan_on_own_grids(const PsfModel& psf, const ExtractOptions& options, BundleRange bundle,
                           int guard) {
  std::vector<std::vector<double>> grids;
  for (int f = bundle.first; f < bundle.last; ++f)
    grids.push_back(with_guards(grid_of(options, f), guard));
  return make_spot_plan(psf, grids, bundle.first);
}

/// The same frame with other spots.
FrameContext with_plan(const FrameContext& frame, const SpotPlan& plan) {
  FrameContext own{frame.ccd, frame.options, frame.grid, plan, frame.tuning, frame.isa};
  own.psferr = frame.psferr;
  own.weak_prior = frame.weak_prior;
  own.tracer = frame.tracer;
  own.observer = frame.observer;
  return own;
}

/// One warning for the frame.
void tell_of_unfit_fibers(const ExtractOptions& options, const Observer& observer,
                          const ExtractResult& result) {
  int fibers = 0, first = -1;
  for (const BundleReport& b : result.bundles) {
    fibers += b.unfit_fibers;
    if (first < 0 && b.unfit_fibers > 0) first = b.first_fiber;
  }
  if (fibers == 0) return;
  observer.warn(
      print("%d fibre%s (the first in the bundle from fibre %d on) with more than %g %% of "
            "the pixels beyond %g sigma: the PSF does not describe %s, and none of %s "
            "pixels was dropped",
            fibers, fibers == 1 ? "" : "s", first, 100 * kMostRejectedShare, options.reject_nsig,
            fibers == 1 ? "it" : "them", fibers == 1 ? "its" : "their"));
}

}  // namespace

void settle_unsolved(const ExtractOptions& options, const Observer& observer,
                     ExtractResult& result) {
  for (BundleReport& b : result.bundles) {
    if (b.solve_sigma <= options.tolerance) continue;
    const int last = b.first_fiber + b.nfiber;
    const std::string what = "fibres " + std::to_string(b.first_fiber) + "-" +
                             std::to_string(last - 1) + ": the solution stopped at an error of " +
                             scientific(b.solve_sigma) + " sigma after " +
                             std::to_string(b.cg_iterations) + " iterations (--tolerance " +
                             scientific(options.tolerance) + ")";
    if (is_solution(b.solve_sigma)) {
      observer.warn(what);
      continue;
    }
    observer.warn(what + "; it is no solution: their bins have flux = ivar = 0 and ALLBADPIX");
    b.unconstrained = 0;
    for (int f = std::max(b.first_fiber, result.spec_min);
         f < std::min(last, result.spec_min + static_cast<int>(result.flux.rows())); ++f) {
      blank_fiber(result, static_cast<std::size_t>(f - result.spec_min));
      b.unconstrained += result.flux.cols();
    }
  }
}

Array2D<float> join_models(const std::vector<ModelStrip>& strips, const PsfModel& psf) {
  Array2D<float> image(static_cast<std::size_t>(psf.npix_y), static_cast<std::size_t>(psf.npix_x),
                       0.0F);
  for (const ModelStrip& s : strips) {
    for (std::size_t r = 0; r < s.value.rows(); ++r) {
      const long y = static_cast<long>(r) + s.y0;
      if (y < 0 || y >= psf.npix_y) continue;
      const long first = std::max(0L, -static_cast<long>(s.x0));
      const long last =
          std::min(static_cast<long>(s.value.cols()), static_cast<long>(psf.npix_x) - s.x0);
      for (long c = first; c < last; ++c) {
        image(static_cast<std::size_t>(y), static_cast<std::size_t>(c + s.x0)) +=
            s.value(r, static_cast<std::size_t>(c));
      }
    }
  }
  return image;
}

void finish_frame(const PsfModel& psf, const ExtractOptions& options,
                  const std::vector<ModelStrip>& models, Executor& executor,
                  const Observer& observer, ExtractResult& result) {
  settle_unsolved(options, observer, result);
  settle_missing(psf, options, observer, result);
  if (options.want_model) result.model = join_models(models, psf);
  if (const std::size_t lost = clear_lost_correlations(result); lost > 0) {
    observer.warn(std::to_string(lost) +
                  " correlations with the next fibre could not be computed and are 0");
  }
  convert_resolution(options, result);
  set_spectral_mask(result, executor);
}

ExtractResult extract(const CcdFrame& ccd, const PsfModel& psf, const ExtractOptions& options,
                      const Tuning& tuning, Isa isa, Executor& executor, const Observer& observer,
                      Tracer* tracer) {
  validate(ccd, psf, options);
  require_step(psf, options, grid_size(options.wave));
  const GuardedGrid grid = guard_grid(psf, options.wave, finest_of(options));
  const bool own_grids = !options.fiber_wave.empty();
  const SpotPlan plan = own_grids ? SpotPlan{} : make_spot_plan(psf, grid.wave);
  FrameContext frame{ccd, options, grid, plan, tuning, isa};
  frame.psferr = psferr_of(psf, options);
  frame.tracer = tracer;
  frame.observer = &observer;
  frame.weak_prior = weak_prior(psf, options, observer);

  const std::vector<BundleRange> bundles = wanted_bundles(psf, options);
  ExtractResult result = empty_result(psf, options);
  result.bundles.resize(bundles.size());
  std::vector<ModelStrip> models(options.want_model ? bundles.size() : 0);
  std::vector<std::vector<CcdPixel>> rejected(bundles.size());
  Pool<BundleWorkspace> pool;
  std::atomic<std::size_t> done{0};
  executor.run(bundles.size(), [&](std::size_t i) {
    stop_if_asked(observer);
    auto work = pool.take();
    ModelStrip* model = options.want_model ? &models[i] : nullptr;
    if (own_grids) {
      const SpotPlan own = plan_on_own_grids(psf, options, bundles[i], grid.guard);
      result.bundles[i] = extract_bundle(with_plan(frame, own), bundles[i], *work, result, model);
    } else {
      result.bundles[i] = extract_bundle(frame, bundles[i], *work, result, model);
    }
    rejected[i] = std::move(work->refine.rejected);
    if (observer.progress) observer.progress("extract", ++done, bundles.size());
  });
  if (options.fluxes_only) {
    if (options.want_model) result.model = join_models(models, psf);
    return result;
  }
  for (const auto& pixels : rejected)
    result.rejected.insert(result.rejected.end(), pixels.begin(), pixels.end());
  tell_of_unfit_fibers(options, observer, result);
  finish_frame(psf, options, models, executor, observer, result);
  return result;
}

}  // namespace fiberloom::exact

namespace fiberloom {

ExtractResult extract_exact(const CcdFrame& ccd, const PsfModel& psf, const ExtractOptions& options,
                            Executor& executor, const Observer& observer, Tracer* tracer) {
  if (options.oversample > 1) {
    validate(options);
    return coarser_result(
        extract_exact(ccd, psf, finer_options(options), executor, observer, tracer), options);
  }
  return exact::extract(ccd, psf, options, exact::tuning_of(options), active_isa(), executor,
                        observer, tracer);
}

}  // namespace fiberloom
