// SPDX-License-Identifier: BSD-3-Clause
// Steps of one frame. What each reads and writes stands beside, in frame_inputs and frame_outputs.
#include "fiberloom/recipes/frame_steps.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "fiberloom/extract/missing.hpp"
#include "fiberloom/extract/wings.hpp"
#include "fiberloom/recipes/frame_header.hpp"
#include "fiberloom/recipes/frame_outputs.hpp"
#include "fiberloom/recipes/trace_step.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {
namespace {

int last_fiber(const PreparedFrame& frame) {
  const ExtractOptions& o = frame.options;
  return o.spec_min + fiber_count(o, frame.in.psf->model.nfiber());
}

/// Fibres asked for, bundle by bundle.
std::vector<BundleRange> fibers_by_bundle(const PreparedFrame& frame) {
  std::vector<BundleRange> parts = wanted_bundles(frame.in.psf->model, frame.options);
  for (BundleRange& b : parts) {
    b = {std::max(b.first, frame.options.spec_min), std::min(b.last, last_fiber(frame))};
  }
  return parts;
}

/// Warnings of an engine, which knows no files, get the frame's name in front: a night has many.
Observer naming(const PreparedFrame& frame, const Observer& observer) {
  Observer named = observer;
  named.message = [&frame, &observer](LogLevel level, const std::string& text) {
    const bool name = level == LogLevel::kWarning;
    observer.log(level, name ? frame.in.preproc.path + ": " + text : text);
  };
  return named;
}

ExtractResult run_engine(const ExtractJob& job, const PreparedFrame& frame, const CcdFrame& ccd,
                         const PsfModel& psf, const ExtractOptions& options, const Engine& engine,
                         Executor& executor, const Observer& listener, Tracer* tracer) {
  if (engine.method() != job.method) {
    throw Error(Status::kInternal, job.image + ": an engine of another method was handed in");
  }
  const Observer observer = naming(frame, listener);
  try {
    return engine.extract(ccd, psf, options, executor, observer, tracer);
  } catch (const Error& error) {  // an engine knows no files either
    if (error.status() != Status::kUnsupported && error.status() != Status::kNumerical) throw;
    throw Error(error.status(),
                frame.in.preproc.path + " with " + frame.in.psf->path + ": " + error.what());
  }
}

/// The same of a frame from which wings are taken first.
ExtractResult run_without_wings(const ExtractJob& job, const PreparedFrame& frame,
                                const PsfModel& psf, const Engine& engine, Executor& executor,
                                const Observer& observer, Tracer* tracer) {
  Observer quiet = observer;  // the extraction afterwards warns of what there is to warn of
  quiet.message = {};
  quiet.progress = {};
  const WinglessFrame bare = [&] {
    const Span span(tracer, "compute/wings");
    const auto extract = [&](const CcdFrame& ccd, const ExtractOptions& options) {
      return run_engine(job, frame, ccd, psf, options, engine, executor, quiet, nullptr);
    };
    return take_wings_off(frame.in.preproc.ccd, psf, frame.options, job.wings, extract, executor,
                          quiet);
  }();
  const WingReport& r = bare.report;
  observer.info(
      print("wings: %.3f of the light in spots beyond them, %.4g electrons at most on a "
            "pixel; the last of %d rounds changed pixels by %.2g sigma at most",
            r.share, r.most_e, r.rounds, r.last_sigma));
  ExtractResult result =
      run_engine(job, frame, bare.ccd, psf, frame.options, engine, executor, observer, tracer);
  count_wings(bare, frame.options, result);
  return result;
}

/// A frame without a single good pixel would give spectra without information: a fault upstream.
void require_light(const PreparedFrame& frame) {
  const MaskCounts& n = frame.pixels;
  if (n.bad() < n.pixels) return;
  throw Error(Status::kCorrupt,
              frame.in.preproc.path + ": no good pixel: of " + std::to_string(n.pixels) + ", " +
                  std::to_string(n.by_mask) + " masked, " + std::to_string(n.nan_image) +
                  " NaN in IMAGE, " + std::to_string(n.nan_ivar) + " NaN in IVAR, " +
                  std::to_string(n.zero_ivar + n.negative_ivar) + " without weight, " +
                  std::to_string(n.wild_ivar + n.wild_image) + " with a wild value");
}

/// The same of a frame whose good pixels gave no good bin.
void require_good_bin(const PreparedFrame& frame, const ExtractResult& result) {
  const double* ivar = result.ivar.data();
  if (std::any_of(ivar, ivar + result.ivar.size(), [](double w) { return w > 0; })) return;
  const bool computed = not_computed_bins(result).empty();
  throw Error(computed ? Status::kCorrupt : Status::kNumerical,
              frame.in.preproc.path + " with " + frame.in.psf->path + ": no good bin: " +
                  empty_fibers_text(frame.in.psf->model, result) + "; nothing was written");
}

using RowsOf = Array2D<double> ExtractResult::*;

/// The rows of one array of all parts, one under the other; empty where the engine left it so.
Array2D<double> stack(const std::vector<ExtractResult>& parts, RowsOf array, std::size_t nspec) {
  if ((parts.front().*array).empty()) return {};
  Array2D<double> whole(nspec, parts.front().wave.size());
  double* to = whole.data();
  for (const ExtractResult& part : parts) {
    const Array2D<double>& rows = part.*array;
    to = std::copy(rows.data(), rows.data() + rows.size(), to);
  }
  return whole;
}

/// The same of matrices.
Array3D<float> stack_planes(const std::vector<ExtractResult>& parts,
                            Array3D<float> ExtractResult::*array, std::size_t nspec) {
  const Array3D<float>& first = parts.front().*array;
  if (first.empty()) return {};
  Array3D<float> whole(nspec, first.rows(), first.cols());
  float* to = whole.data();
  for (const ExtractResult& part : parts)
    to = std::copy((part.*array).data(), (part.*array).data() + (part.*array).size(), to);
  return whole;
}

void check_parts(const std::vector<ExtractResult>& parts, const PreparedFrame& frame) {
  const auto fail = [](const char* what) {
    throw Error(Status::kInternal, std::string("parts of a frame: ") + what);
  };
  if (parts.empty()) fail("there are none");
  int next = frame.options.spec_min;
  for (const ExtractResult& part : parts) {
    if (part.spec_min != next) fail("they do not follow each other");
    if (part.wave != parts.front().wave ||
        part.resolution.rows() != parts.front().resolution.rows()) {
      fail("their grids differ");
    }
    if (!part.model.empty()) fail("they have model images");
    next += static_cast<int>(part.flux.rows());
  }
  if (next != last_fiber(frame)) fail("the last fibres are missing");
}

}  // namespace

void settle_diagonals(const ExtractJob& job, ExtractResult& result) {
  if (job.max_leak < 0) return;
  const int ndiag = diagonals_for(result, job.max_leak);
  for (auto* all : {&result.resolution, &result.fine_resolution, &result.fiber_correlation}) {
    keep_diagonals(*all, ndiag);
  }
}

PreparedFrame prepare_frame(const ExtractJob& job, FrameInputs in, const Observer& observer) {
  PreparedFrame frame;
  frame.in = std::move(in);
  frame.pixels = mask_inputs(frame.in, job, observer);
  keep_own_fibers(frame.in, observer);
  frame.grid = frame_grid(job, frame.in, observer);
  frame.options = resolve_options(job, frame.in, frame.grid);
  frame.fibermap = choose_fibermap(frame.in, frame.options, observer);
  frame.coverage = grid_coverage(frame.in.psf->model, frame.options.spec_min,
                                 last_fiber(frame) - frame.options.spec_min, frame.options.wave);
  const std::string seen = coverage_text(frame.coverage, frame.in.psf->model, frame.options.wave);
  if (!seen.empty()) {  // who did not choose the grid need not be warned of it
    observer.log(job.wave || !job.wave_file.empty() ? LogLevel::kWarning : LogLevel::kInfo,
                 frame.in.preproc.path + ": " + seen);
  }
  require_light(frame);
  return frame;
}

ExtractResult compute_frame(const ExtractJob& job, const PreparedFrame& frame, const Engine& engine,
                            Executor& executor, const Observer& observer, Tracer* tracer) {
  const auto run = [&](const PsfModel& psf) {
    if (takes_wings_off(job))
      return run_without_wings(job, frame, psf, engine, executor, observer, tracer);
    return run_engine(job, frame, frame.in.preproc.ccd, psf, frame.options, engine, executor,
                      observer, tracer);
  };
  TraceReport traces;
  if (moves_traces(job))
    traces = find_traces(job, frame, engine, executor, naming(frame, observer), tracer);
  const bool moved = traces.degree >= 0;
  ExtractResult result =
      moved ? run(changed_psf(frame.in.psf->model, traces.change())) : run(frame.in.psf->model);
  result.traces = std::move(traces);
  settle_diagonals(job, result);
  return result;
}

std::size_t count_bundles(const PreparedFrame& frame) { return fibers_by_bundle(frame).size(); }

ExtractResult compute_bundles(const ExtractJob& job, const PreparedFrame& frame, std::size_t first,
                              std::size_t last, const Engine& engine, Executor& executor,
                              const Observer& observer, Tracer* tracer) {
  const auto bundles = fibers_by_bundle(frame);
  if (first >= last || last > bundles.size()) {
    throw Error(Status::kInternal, job.image + ": bundles " + std::to_string(first) + " to " +
                                       std::to_string(last) + " of " +
                                       std::to_string(bundles.size()) + " asked for");
  }
  if (frame.options.want_model) {
    throw Error(Status::kUsage, job.image + ": a model image needs the frame in one piece");
  }
  if (moves_traces(job)) {
    throw Error(Status::kUsage, job.image + ": trace shifts need the frame in one piece");
  }
  if (takes_wings_off(job)) {
    throw Error(Status::kUsage, job.image + ": wings need the frame in one piece");
  }
  ExtractOptions options = frame.options;
  options.spec_min = bundles[first].first;
  options.nspec = bundles[last - 1].last - options.spec_min;
  return run_engine(job, frame, frame.in.preproc.ccd, frame.in.psf->model, options, engine,
                    executor, observer, tracer);
}

ExtractResult join_parts(const ExtractJob& job, std::vector<ExtractResult> parts,
                         const PreparedFrame& frame) {
  std::sort(parts.begin(), parts.end(),
            [](const ExtractResult& a, const ExtractResult& b) { return a.spec_min < b.spec_min; });
  check_parts(parts, frame);
  if (parts.size() == 1) {
    settle_diagonals(job, parts.front());
    return std::move(parts.front());
  }
  std::size_t nspec = 0;
  for (const ExtractResult& part : parts) nspec += part.flux.rows();
  ExtractResult whole;
  whole.wave = parts.front().wave;
  whole.spec_min = parts.front().spec_min;
  for (const RowsOf array : std::initializer_list<RowsOf>{
           &ExtractResult::flux, &ExtractResult::ivar, &ExtractResult::xflux,
           &ExtractResult::chi2pix, &ExtractResult::pixmask_fraction,
           &ExtractResult::rejected_fraction}) {
    whole.*array = stack(parts, array, nspec);
  }
  whole.resolution = stack_planes(parts, &ExtractResult::resolution, nspec);
  whole.fine_resolution = stack_planes(parts, &ExtractResult::fine_resolution, nspec);
  whole.fiber_correlation = stack_planes(parts, &ExtractResult::fiber_correlation, nspec);
  for (const ExtractResult& part : parts) {
    whole.rejected.insert(whole.rejected.end(), part.rejected.begin(), part.rejected.end());
    whole.bundles.insert(whole.bundles.end(), part.bundles.begin(), part.bundles.end());
  }
  set_spectral_mask(whole);
  settle_diagonals(job, whole);
  return whole;
}

ExtractSummary summarize(const ExtractJob& job, const PreparedFrame& frame,
                         const ExtractResult& result) {
  ExtractSummary summary;
  summary.image = frame.in.preproc.path;
  summary.psf = frame.in.psf->path;
  summary.output = job.output;
  summary.pixels = frame.pixels;
  summary.wave = frame.grid.range;
  summary.heliocor = frame.grid.heliocor;
  summary.without_ccd = frame.coverage.without_ccd;
  summary.spec_min = result.spec_min;
  summary.nspec = result.flux.rows();
  summary.nwave = result.flux.cols();
  if (job.report_leak || job.max_leak >= 0) summary.leak = leak_of(result);
  summary.bundles = result.bundles;
  summary.traces = result.traces;
  summary.wings = result.wings;
  summary.by_cpu = taken_over(result);
  for (std::size_t i = 0; i < result.mask.size(); ++i) {
    const std::uint32_t bits = result.mask.data()[i];
    summary.some_bad += (bits & kSomeBadPix) != 0;
    summary.all_bad += (bits & kAllBadPix) != 0;
    summary.bad_fit += (bits & kBad2dFit) != 0;
    summary.cosmic += (bits & kCosmic) != 0;
  }
  summary.rejected = result.rejected.size();
  summary.not_computed = not_computed_bins(result).size();
  return summary;
}

void write_result(const ExtractJob& job, const PreparedFrame& frame, ExtractResult result,
                  Tracer* tracer) {
  if (!result.bundles.empty() &&
      std::none_of(result.bundles.begin(), result.bundles.end(),
                   [](const BundleReport& b) { return is_solution(b.solve_sigma); })) {
    throw Error(Status::kNumerical,
                frame.in.preproc.path + " with " + frame.in.psf->path +
                    ": the equations of no bundle could be solved; nothing was written");
  }
  require_good_bin(frame, result);
  const HeaderCards header = frame_header(job, frame);
  result.wave = frame.grid.written;
  write_outputs(job, frame, header, std::move(result), tracer);
}

}  // namespace fiberloom
