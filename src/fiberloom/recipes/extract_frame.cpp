// SPDX-License-Identifier: BSD-3-Clause
// read -> mask -> extract -> write. Each step is a name here; what it does stands beside.
#include "fiberloom/recipes/extract_frame.hpp"

#include <new>
#include <variant>

#include "fiberloom/recipes/frame_memory.hpp"
#include "fiberloom/recipes/frame_outputs.hpp"
#include "fiberloom/recipes/frame_steps.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/base/stop.hpp"
#include "loom/runtime/capped_executor.hpp"

namespace fiberloom {
namespace {

std::uint64_t bytes_of(const PixelArray& pixels) {
  return std::visit([](const auto& a) { return a.size() * sizeof(*a.data()); }, pixels.data());
}

/// What few options keep.
std::uint64_t bytes_beside(const PreprocFile& file) {
  return file.mask.size() * sizeof(std::uint32_t) +
         file.ccd.readnoise.by_pixel.size() * sizeof(float);
}

/// What the job will take, against what there was before anything was read.
MemoryUse plan_memory(const ExtractJob& job, const Engine& engine, const PreparedFrame& frame,
                      const ImageFileSize& file, const std::optional<MemoryGrant>& grant,
                      std::size_t threads, const Observer& observer) {
  const CcdFrame& ccd = frame.in.preproc.ccd;
  const std::string& image = frame.in.preproc.path;
  const FrameMemory need =
      frame_memory(job, engine, engine_memory(job, frame.in.psf->model, frame.grid.range), file,
                   bytes_of(ccd.image) + bytes_of(ccd.ivar) + bytes_beside(frame.in.preproc));
  MemoryUse use{need.peak(threads), 0, threads};
  if (!grant) return use;
  use.granted_bytes = grant->bytes;
  use.threads = threads_that_fit(need, *grant, threads, image, frame.grid.range[2]);
  if (use.threads < threads) {
    observer.warn(image +
                  print(": %zu of %zu threads extract: all would need ", use.threads, threads) +
                  gigabytes(use.estimated_bytes + threads * grant->per_thread) + " of memory, " +
                  gigabytes(grant->bytes) + " is " + grant->by);
  }
  use.estimated_bytes = need.peak(use.threads);
  return use;
}

ExtractSummary run_steps(const ExtractJob& job, const Engine& engine, Executor& executor,
                         const Observer& observer, Tracer* tracer) {
  const auto grant = memory_left(find_memory_limits(process_environment()));
  const ImageFileSize file = measure_image(job.image);
  if (grant) require_memory_to_read(job.image, file, *grant);
  StageClock clock;
  FrameInputs in = read_inputs(job, executor, observer, tracer);
  const StageTime read = clock.lap();

  const PreparedFrame frame = prepare_frame(job, std::move(in), observer);
  const MemoryUse memory =
      plan_memory(job, engine, frame, file, grant, executor.concurrency(), observer);
  CappedExecutor capped(executor, memory.threads);
  Span span(tracer, "compute");
  ExtractResult result = compute_frame(job, frame, engine, capped, observer, tracer);
  span.stop();
  stop_if_asked(observer);

  ExtractSummary summary = summarize(job, frame, result);
  if (job.realisations > 0)
    summary.realisations = realise(job, frame, result, engine, capped, observer);
  const StageTime compute = clock.lap();
  write_result(job, frame, std::move(result), tracer);
  summary.memory = memory;
  summary.read = read;
  summary.compute = compute;
  summary.write = clock.lap();
  return summary;
}

}  // namespace

ExtractSummary extract_frame(const ExtractJob& job, const Engine& engine, Executor& executor,
                             const Observer& observer, Tracer* tracer) {
  check_outputs(job);
  try {
    return run_steps(job, engine, executor, observer, tracer);
  } catch (const std::bad_alloc&) {  // others took what was there, or a bundle grew beyond its plan
    throw Error(Status::kMemory, job.image + ": out of memory while it was read or extracted");
  }
}

}  // namespace fiberloom
