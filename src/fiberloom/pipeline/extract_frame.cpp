// SPDX-License-Identifier: BSD-3-Clause
// read -> mask -> extract -> write. Each step is a name here; what it does stands beside.
#include "fiberloom/pipeline/extract_frame.hpp"

#include "fiberloom/extract/exact/gpu/device_engine.hpp"
#include "fiberloom/pipeline/frame_header.hpp"
#include "fiberloom/pipeline/frame_inputs.hpp"
#include "fiberloom/pipeline/frame_outputs.hpp"

namespace fiberloom {
namespace {

ExtractResult run_engine(const ExtractJob& job, const ExtractOptions& options,
                         const FrameInputs& in, Executor& executor, const Observer& observer,
                         Tracer* tracer) {
  const Span span(tracer, "compute");
  if (job.device != nullptr && job.method == Method::kExact) {
    return job.device->extract(in.preproc.ccd, in.psf.model, options, executor, observer, tracer);
  }
  const auto engine = job.method == Method::kExact ? extract_exact : extract_patch;
  return engine(in.preproc.ccd, in.psf.model, options, executor, observer, tracer);
}

void count_bins(const ExtractResult& result, ExtractSummary& summary) {
  for (std::size_t i = 0; i < result.mask.size(); ++i) {
    const std::uint32_t bits = result.mask.data()[i];
    summary.some_bad += (bits & kSomeBadPix) != 0;
    summary.all_bad += (bits & kAllBadPix) != 0;
    summary.bad_fit += (bits & kBad2dFit) != 0;
  }
}

}  // namespace

ExtractSummary extract_frame(const ExtractJob& job, Executor& executor, const Observer& observer,
                             Tracer* tracer) {
  check_outputs(job);
  StageClock clock;
  ExtractSummary summary;

  FrameInputs in = read_inputs(job, observer, tracer);
  summary.read = clock.lap();

  summary.pixels = mask_inputs(in, job.mask_bits, observer);
  const ExtractOptions options = resolve_options(job, in);
  summary.wave = wave_range(job, in.psf);
  const std::optional<RawTable> fibermap = choose_fibermap(in, options, observer);
  ExtractResult result = run_engine(job, options, in, executor, observer, tracer);
  stop_if_asked(observer);
  summary.compute = clock.lap();

  const HeaderCards header = frame_header(job, in, options, summary.wave, fibermap);
  summary.image = in.preproc.path;
  summary.psf = in.psf.path;
  summary.output = job.output;
  summary.spec_min = result.spec_min;
  summary.nspec = result.flux.rows();
  summary.nwave = result.flux.cols();
  summary.bundles = result.bundles;
  count_bins(result, summary);
  write_outputs(job, in.preproc.ccd, header, std::move(result), fibermap, tracer);
  summary.write = clock.lap();
  return summary;
}

}  // namespace fiberloom
