// SPDX-License-Identifier: BSD-3-Clause
// The recipe of many scans, in one process or over the ranks of a job: find them, and let the batch
// engine do what is not there yet.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "loom/batch/run_on_ranks.hpp"
#include "loom/batch/run_text.hpp"
#include "loom/batch/task_files.hpp"
#include "tomoloom/recipes/scans/scan_kind.hpp"
#include "tomoloom/recipes/scans/scan_list.hpp"

namespace tomoloom::scans {

struct ManyScansJob {
  std::vector<std::string> inputs;  ///< scans, folders of them, lists
  ReconJob job;                     ///< of each; output is the folder of all volumes
  PipelineOptions pipeline;
  ClaimOptions claims;
  bool by_content = false;       ///< see Task
  std::vector<NamedFile> texts;  ///< that whoever runs this writes beside: a summary
};

/// A task for each scan: its volume is OUT/below/NAME_rec.h5, or with TIFF a folder NAME_rec.
/// Throws kNotFound, kUsage (two scans would have the same volume).
[[nodiscard]] std::vector<Task> find_tasks(const ManyScansJob& job);

[[nodiscard]] RunFolder run_folder(const ManyScansJob& job);
/// The ledger's table "volumes".
[[nodiscard]] LedgerShape ledger_shape();
/// Finds and inspects; writes nothing.
[[nodiscard]] BatchPlan plan_scans(const ManyScansJob& job);

[[nodiscard]] BatchReport run_scans(const ManyScansJob& job, const Observer& observer,
                                    const Monitor::Progress& progress);

/// What several ranks need beside the scans themselves.
struct RanksChoice {
  double silence_s = 20;            ///< see RankJob
  double launch_s = 0, open_s = 0;  ///< see RankReport
  std::function<void(const std::exception_ptr&)> fatal{};
};
/// A scan a rank. All ranks call it, with the same job. Afterwards Ranks::finish().
[[nodiscard]] RanksReport run_scans_on_ranks(Ranks& ranks, const ManyScansJob& job,
                                             RanksChoice choice, const Observer& observer,
                                             const Monitor::Progress& progress);

/// status.json: the run under the names that nights use, with "scans" in place of frames.
[[nodiscard]] std::string status_json(const RunStatus& status);
/// status.html: self-contained, loads itself anew while the run goes on.
[[nodiscard]] std::string status_html(const RunStatus& status);

}  // namespace tomoloom::scans
