// SPDX-License-Identifier: BSD-3-Clause
// read -> mask -> extract -> write. Each step is a name here; what it does stands beside.
#include "fiberloom/pipeline/extract_frame.hpp"

#include <array>

#include "fiberloom/base/stop.hpp"
#include "fiberloom/fits/atomic_file.hpp"
#include "fiberloom/pipeline/frame_outputs.hpp"
#include "fiberloom/pipeline/frame_steps.hpp"

namespace fiberloom {

ExtractSummary extract_frame(const ExtractJob& job, Executor& executor, const Observer& observer,
                             Tracer* tracer) {
  check_outputs(job);
  fits::remove_dead_temporaries(std::array{job.output, job.model, job.residual});
  StageClock clock;
  FrameInputs in = read_inputs(job, observer, tracer);
  const StageTime read = clock.lap();

  const PreparedFrame frame = prepare_frame(job, std::move(in), observer);
  Span span(tracer, "compute");
  TakenOver by_cpu;
  ExtractResult result = compute_frame(job, frame, executor, observer, tracer, by_cpu);
  span.stop();
  stop_if_asked(observer);
  const StageTime compute = clock.lap();

  ExtractSummary summary = summarize(job, frame, result);
  write_result(job, frame, std::move(result), tracer);
  summary.by_cpu = std::move(by_cpu);
  summary.read = read;
  summary.compute = compute;
  summary.write = clock.lap();
  return summary;
}

}  // namespace fiberloom
