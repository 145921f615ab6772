// SPDX-License-Identifier: BSD-3-Clause
// The recipe of an exposure or a night in one process: find, look what is there, do the rest, say
// what became of it. Its parts serve an MPI job too.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fiberloom/recipes/night/discover.hpp"
#include "fiberloom/recipes/night/frame_pipeline.hpp"
#include "fiberloom/recipes/night/inspect.hpp"
#include "fiberloom/recipes/night/monitor.hpp"
#include "fiberloom/recipes/night/run_options.hpp"
#include "fiberloom/recipes/night/work_sources.hpp"
#include "loom/files/output_files.hpp"

namespace fiberloom::night {

struct NightJob {
  FrameRequest request;
  PipelineOptions pipeline;
  ClaimOptions claims;
  std::optional<WatchOptions> watch;
  Redo redo = Redo::kNo;
  QualityLimits limits;            ///< of the status page
  std::vector<NamedFile> texts;    ///< that whoever runs this writes beside: a summary ...
  std::vector<NamedFile> sources;  ///< that the request came from: a list, a job file
};

/// Throws kUsage when a file that is written is one that is read, or is written twice; frames, the
/// run's own files and `texts` against images, PSFs and `sources`.
void check_files(const NightJob& job, const std::vector<FrameTask>& tasks);

/// Frames, and what is there of each; `findings` has one for each of `tasks`.
struct NightPlan {
  std::vector<FrameTask> tasks;
  std::vector<Finding> findings;
};

/// Finds and inspects; writes nothing. Throws kNotFound when there is no frame at all, kUsage where
/// the folder's frames are made with other options.
[[nodiscard]] NightPlan plan_night(const NightJob& job);

/// Tells of the frames that need no work (up to date, missing, in quarantine without --retry) and
/// returns the others, in the order in which they should be done.
[[nodiscard]] std::vector<std::size_t> waiting_frames(
    const std::vector<Finding>& findings, int retry,
    const std::function<void(const FrameOutcome&)>& changed);

/// Removes what dead runs left: their claims, and temporaries of the frames they worked on.
void clean_up(const std::vector<FrameTask>& tasks, const RunFolder& folder, Claims& claims);

/// Before any of the frames is begun: remembers their options, or throws kUsage where the folder's
/// are others (remember_options); with kYes says how many frames stay as they are.
void admit_frames(const std::vector<FrameTask>& tasks, const RunFolder& folder, Redo redo,
                  const Observer& observer);

/// "night 20261121", "exposure 12", or the input's name.
[[nodiscard]] std::string run_title(const FrameRequest& request,
                                    const std::vector<FrameTask>& tasks);

struct NightCounts {
  std::size_t frames = 0, done = 0, up_to_date = 0, failed = 0, missing = 0, elsewhere = 0,
              left = 0;
};

struct NightReport {
  std::vector<FrameTask> tasks;
  std::vector<FrameOutcome> outcomes;  ///< one for each task
  NightCounts counts;
  PipelineEnd end;
  NightStatus status;  ///< at the end
  PipelineOptions pipeline;
  Engine engine;   ///< what computed
  StageLoad load;  ///< busy thread-seconds of the stages
  double wall_s = 0, cpu_s = 0;
  std::uint64_t peak_memory_bytes = 0;
};

[[nodiscard]] NightCounts count_frames(const std::vector<FrameOutcome>& outcomes);

/// The exit code: a fatal fault's own; kInterrupted when stopped with work left; kSomeFailed when a
/// frame failed or is missing; kOk.
[[nodiscard]] Status exit_status(const NightReport& report);

/// Does it all. Throws where nothing could be begun (kNotFound, kUsage, kUnwritable, kDiskFull).
[[nodiscard]] NightReport run_night(const NightJob& job, const Engine& engine,
                                    const Observer& observer, const Monitor::Progress& progress,
                                    Tracer* tracer);

}  // namespace fiberloom::night
