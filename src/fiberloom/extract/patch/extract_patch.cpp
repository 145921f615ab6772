// SPDX-License-Identifier: BSD-3-Clause
// extract_patch(): the peers' divide and conquer over a frame. Bundles in turn, patches in
// parallel.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <utility>

#include "fiberloom/extract/extract.hpp"
#include "fiberloom/extract/missing.hpp"
#include "fiberloom/extract/patch/patch_layout.hpp"
#include "fiberloom/extract/patch/patch_solve.hpp"
#include "fiberloom/extract/storable.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/base/stop.hpp"

namespace fiberloom {
namespace patch {
namespace {

struct Job {
  const CcdFrame& ccd;
  const PsfModel& psf;
  const ExtractOptions& options;
  PaddedGrid grid;
  SolveSettings settings;
  int first = 0, last = 0;  ///< fibres asked for
  Executor& executor;
  const Observer& observer;
  Tracer* tracer;
};

void require(bool good, const char* name, double found, const char* expected) {
  if (good) return;
  throw Error(Status::kUsage, std::string("patch engine: ") + name + " is " + print("%g", found) +
                                  ", expected " + expected);
}

void check(const ExtractOptions& options) {
  const PatchOptions& o = options.patch;
  require(o.nsubbundles >= 1, "nsubbundles", o.nsubbundles, "at least 1");
  require(o.nwavestep >= 1, "nwavestep", o.nwavestep, "at least 1");
  require(o.wavepad >= 0, "wavepad", o.wavepad, "at least 0");
  require(kWavepadRange.contains(o.wavepad_frac), "wavepad_frac", o.wavepad_frac, "0 to 10");
  require(kPixpadRange.contains(o.pixpad_frac), "pixpad_frac", o.pixpad_frac, "0 to 1");
}

ExtractResult blank_frame(const Job& job) {
  ExtractResult out;
  const auto nspec = static_cast<std::size_t>(job.last - job.first);
  const std::size_t nwave = job.options.wave.size();
  out.wave = job.options.wave;
  out.spec_min = job.first;
  for (auto* a : {&out.flux, &out.ivar, &out.xflux, &out.chi2pix, &out.pixmask_fraction}) {
    *a = Array2D<double>(nspec, nwave, 0.0);
  }
  out.resolution = Array3D<float>(nspec, static_cast<std::size_t>(job.options.ndiag), nwave, 0.0F);
  if (job.options.want_model) {
    out.model = Array2D<float>(job.ccd.image.rows(), job.ccd.image.cols(), 0.0F);
  }
  return out;
}

SpotTable make_spots(const Job& job, const std::vector<PatchPlan>& plans) {
  const Span span(job.tracer, "patch/spots");
  SpotTable table;
  table.first_fiber = plans.front().pad_first;
  table.nwave = job.grid.wave.size();
  const auto nfiber = static_cast<std::size_t>(plans.back().pad_last - table.first_fiber);
  table.spot.resize(nfiber * table.nwave);
  job.executor.run(nfiber, [&](std::size_t f) {
    stop_if_asked(job.observer);
    for (std::size_t j = 0; j < table.nwave; ++j) {
      table.spot[f * table.nwave + j] = spot_reference(
          job.psf, static_cast<std::size_t>(table.first_fiber) + f, job.grid.wave[j]);
    }
  });
  return table;
}

/// Puts the requested fibres of a patch where they belong; electrons a bin.
void keep(const Job& job, const PatchPlan& plan, const PatchResult& part, ExtractResult& out) {
  const std::size_t offset = plan.begin - job.grid.pad, half = out.resolution.rows() / 2;
  for (int fiber = std::max(plan.first, job.first); fiber < std::min(plan.last, job.last);
       ++fiber) {
    const auto f = static_cast<std::size_t>(fiber - plan.first);
    const auto s = static_cast<std::size_t>(fiber - job.first);
    for (std::size_t j = 0; j < plan.nkeep; ++j) {
      const std::size_t bin = offset + j;
      out.flux(s, bin) = part.flux(f, j);
      out.ivar(s, bin) = part.ivar(f, j);
      out.xflux(s, bin) = part.xflux(f, j);
      out.chi2pix(s, bin) = part.chi2pix(f, j);
      out.pixmask_fraction(s, bin) = part.pixmask_fraction(f, j);
      for (std::size_t k = 0; k < out.resolution.rows(); ++k) {
        const bool in_grid = bin + k >= half && bin + k - half < job.grid.nwave;
        out.resolution(s, k, bin) = in_grid ? static_cast<float>(part.resolution(f, k, j)) : 0.0F;
      }
    }
  }
}

void report_trouble(const Job& job, const std::vector<PatchPlan>& plans,
                    const std::vector<PatchStatus>& status) {
  for (std::size_t k = 0; k < plans.size(); ++k) {
    if (status[k] != PatchStatus::kRegularized && status[k] != PatchStatus::kFailed) continue;
    const std::string where = "patch of fibres " + std::to_string(plans[k].first) + " to " +
                              std::to_string(plans[k].last - 1) + ", bins from " +
                              std::to_string(plans[k].begin - job.grid.pad);
    job.observer.warn(where + (status[k] == PatchStatus::kFailed
                                   ? ": no finite solution, flux and ivar set to 0"
                                   : ": solved with regularize = 1e-4"));
  }
}

/// The columns of the CCD that the spots of a table reach.
std::pair<int, int> columns_of(const SpotTable& spots, int nx) {
  int first = nx, last = 0;
  for (const Spot& s : spots.spot) {
    first = std::min(first, std::max(s.x0, 0));
    last = std::max(last, std::min(s.x0 + s.nx, nx));
  }
  return {first, std::max(first, last)};
}

/// A x of the kept bins of fibres [first, last), summed in double and in fixed order.
void add_model(const Job& job, const SpotTable& spots, int first, int last, ExtractResult& out) {
  const Span span(job.tracer, "patch/model");
  const auto ny = static_cast<int>(out.model.rows()), nx = static_cast<int>(out.model.cols());
  const auto [x0, x1] = columns_of(spots, nx);
  Array2D<double> light(out.model.rows(), static_cast<std::size_t>(x1 - x0), 0.0);
  for (int fiber = first; fiber < last; ++fiber) {
    stop_if_asked(job.observer);
    for (std::size_t j = 0; j < job.grid.nwave; ++j) {
      const double x = out.xflux(static_cast<std::size_t>(fiber - job.first), j);
      const Spot& s = spots.at(fiber, j + job.grid.pad);
      for (int row = std::max(s.y0, 0); row < std::min(s.y0 + s.ny, ny); ++row) {
        for (int col = std::max(s.x0, 0); col < std::min(s.x0 + s.nx, nx); ++col) {
          light(static_cast<std::size_t>(row), static_cast<std::size_t>(col - x0)) +=
              x * s.value[static_cast<std::size_t>((row - s.y0) * s.nx + col - s.x0)];
        }
      }
    }
  }
  for (std::size_t r = 0; r < light.rows(); ++r) {
    float* row = out.model.row(r) + x0;
    for (std::size_t c = 0; c < light.cols(); ++c) {
      row[c] += static_cast<float>(std::clamp(light(r, c), -kMostStored, kMostStored));
    }
  }
}

/// Counts the patches of the whole frame: a bundle takes many seconds.
class PatchCount {
 public:
  PatchCount(const Job& job, const std::vector<BundleRange>& bundles) : observer_(job.observer) {
    for (const BundleRange& bundle : bundles) {
      all_ += plan_bundle(bundle, job.grid, job.options.patch, job.first, job.last).size();
    }
    tell(0);
  }
  void one() { tell(++done_); }

 private:
  void tell(std::size_t done) const {
    if (observer_.progress) observer_.progress("extract", done, all_);
  }
  const Observer& observer_;
  std::size_t all_ = 0;
  std::atomic<std::size_t> done_{0};
};

void extract_bundle(const Job& job, const BundleRange& bundle, PatchCount& done,
                    ExtractResult& out) {
  const auto plans = plan_bundle(bundle, job.grid, job.options.patch, job.first, job.last);
  const SpotTable spots = make_spots(job, plans);
  std::vector<PatchStatus> status(plans.size());
  {
    const Span span(job.tracer, "patch/solve");
    job.executor.run(plans.size(), [&](std::size_t k) {
      stop_if_asked(job.observer);
      const PatchResult part =
          solve_patch(job.ccd, spots, plans[k], job.grid.pad, job.settings, job.observer);
      status[k] = part.status;
      keep(job, plans[k], part, out);
      done.one();
    });
  }
  report_trouble(job, plans, status);
  const int first = std::max(bundle.first, job.first), last = std::min(bundle.last, job.last);
  if (job.options.want_model) add_model(job, spots, first, last, out);

  BundleReport report;
  report.first_fiber = bundle.first;
  report.nfiber = bundle.last - bundle.first;
  report.windows = static_cast<int>(plans.size());
  for (int f = first; f < last; ++f) {
    const double* ivar = out.ivar.row(static_cast<std::size_t>(f - job.first));
    report.unconstrained += static_cast<std::size_t>(std::count(ivar, ivar + job.grid.nwave, 0.0));
  }
  out.bundles.push_back(report);
}

void convert_to_angstrom(ExtractResult& out) {
  const auto width = bin_widths(out.wave);
  for (std::size_t s = 0; s < out.flux.rows(); ++s) {
    for (std::size_t j = 0; j < width.size(); ++j) {
      out.flux(s, j) /= width[j];
      out.xflux(s, j) /= width[j];
      out.ivar(s, j) *= width[j] * width[j];
      out.chi2pix(s, j) = std::min(out.chi2pix(s, j), kMostChi2);
      const bool good =
          out.ivar(s, j) > 0 && storable(out.flux(s, j), out.ivar(s, j), out.xflux(s, j));
      if (!good && out.ivar(s, j) != 0) blank_bin(out, s, j);
    }
  }
}

}  // namespace
}  // namespace patch

ExtractResult extract_patch(const CcdFrame& ccd, const PsfModel& psf, const ExtractOptions& options,
                            Executor& executor, const Observer& observer, Tracer* tracer) {
  validate(ccd, psf, options);
  patch::check(options);
  const int nspec = fiber_count(options, psf.nfiber());
  const double psferr = options.psferr < 0 ? psf.psferr : options.psferr;
  const patch::Job job{ccd,
                       psf,
                       options,
                       patch::padded_grid(options),
                       {options.patch.pixpad_frac, options.regularize, psferr, options.ndiag,
                        options.decorrelate_fibers},
                       options.spec_min,
                       options.spec_min + nspec,
                       executor,
                       observer,
                       tracer};
  const std::vector<BundleRange> wanted = wanted_bundles(psf, options);
  ExtractResult out = patch::blank_frame(job);
  patch::PatchCount done(job, wanted);
  for (const BundleRange& bundle : wanted) patch::extract_bundle(job, bundle, done, out);
  patch::convert_to_angstrom(out);
  settle_missing(psf, options, observer, out);
  convert_resolution(options, out);
  set_spectral_mask(out);
  return out;
}

}  // namespace fiberloom
