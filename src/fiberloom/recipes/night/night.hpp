// SPDX-License-Identifier: BSD-3-Clause
// The recipe of an exposure or a night, in one process or over the ranks of a job: find the frames,
// and let the batch engine extract what is not there yet.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fiberloom/recipes/engine.hpp"
#include "fiberloom/recipes/night/discover.hpp"
#include "fiberloom/recipes/night/frame_quality.hpp"
#include "fiberloom/recipes/night/run_options.hpp"
#include "loom/batch/run_on_ranks.hpp"
#include "loom/batch/run_text.hpp"
#include "loom/files/output_files.hpp"

namespace fiberloom::night {

/// What a night does beyond its frames.
struct Beyond {
  /// All tasks of the night, of those of its frames, which may be left out.
  std::function<std::vector<Task>(std::vector<Task> frames)> plan;
  /// In a watch the same of the frames that have arrived; `arriving` are still being written.
  GrowingSource::Grow grow;
  /// Makes what the tasks need before any of them is begun, after check_files().
  std::function<void(const std::vector<Task>&)> open;
  std::vector<std::shared_ptr<WorkKind>> kinds;  ///< of tasks that are no frames
  std::function<std::vector<StatusFile>(const RunStatus&)> status;
};

struct NightJob {
  FrameRequest request;
  PipelineOptions pipeline;
  ClaimOptions claims;
  std::string state;  ///< URL of a database in place of the folder's ledger; empty: none
  std::optional<WatchOptions> watch;
  Redo redo = Redo::kNo;
  QualityLimits limits;            ///< of the status page
  std::vector<NamedFile> texts;    ///< that whoever runs this writes beside: a summary ...
  std::vector<NamedFile> sources;  ///< further files that nothing may be written over: a job file
  std::optional<Beyond> beyond;
};

/// OUT as fiberloom's run folder.
[[nodiscard]] RunFolder run_folder(const std::string& output);
/// The ledger's table "frames".
[[nodiscard]] LedgerShape ledger_shape();

/// Throws kUsage when a file that is written is one that is read, or is written twice; frames, the
/// run's own files and `texts` against images, PSFs, what steps read that no task makes, and
/// `sources`.
void check_files(const NightJob& job, const std::vector<Task>& tasks);

/// Finds and inspects; writes nothing. Throws kNotFound when there is no frame at all, kUsage where
/// the folder's frames are made with other options. Warns of exposures and cameras that were asked
/// for and of which there is no frame.
[[nodiscard]] BatchPlan plan_night(const NightJob& job, const Observer& observer = {});

/// Notes the tasks in the folder's plan before any of them is begun. Throws kUnwritable, kDiskFull.
void keep_plan(const NightJob& job, const std::vector<Task>& tasks);

/// "night 20261121", "exposure 12", or the input's name.
[[nodiscard]] std::string run_title(const FrameRequest& request, const std::vector<Task>& tasks);

struct NightReport : BatchReport {
  Engine engine;  ///< what computed
};

/// The zeros of the options filled in, as a run with this engine does.
[[nodiscard]] PipelineOptions complete_options(PipelineOptions options, const FrameRequest& request,
                                               const Engine& engine);

/// Does it all. Throws where nothing could be begun (kNotFound, kUsage, kUnwritable, kDiskFull).
[[nodiscard]] NightReport run_night(const NightJob& job, const Engine& engine,
                                    const Observer& observer, const Monitor::Progress& progress,
                                    Tracer* tracer);

/// What several ranks need beside the night itself.
struct NightRanksJob {
  NightJob night;
  DispatchOptions dispatch;
  double silence_s = 20;            ///< see RankJob
  double launch_s = 0, open_s = 0;  ///< see RankReport
  std::function<void(const std::exception_ptr&)> fatal;
};

struct NightRanksReport {
  NightReport night;              ///< whole on rank 0 only
  std::vector<RankReport> ranks;  ///< every rank's on rank 0, else its own
  std::string library;
  int nodes = 1;
  std::string trace;  ///< events of all ranks, on rank 0
};

/// All ranks call it, with the same job and each with its own engine, which computes if all have
/// one of its kind, else the CPU does. Afterwards Ranks::finish().
[[nodiscard]] NightRanksReport run_night_on_ranks(Ranks& ranks, NightRanksJob job, Engine engine,
                                                  const Observer& observer,
                                                  const Monitor::Progress& progress,
                                                  Tracer* tracer);

}  // namespace fiberloom::night
