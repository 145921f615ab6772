// SPDX-License-Identifier: BSD-3-Clause
// The recipe of many files of spectra, in one process or over the ranks of a job: find them, and
// let the batch engine do what is not there yet.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fiberloom/recipes/redshift/redshift_kind.hpp"
#include "loom/batch/run_on_ranks.hpp"
#include "loom/batch/run_text.hpp"
#include "loom/batch/task_files.hpp"

namespace fiberloom::survey {

struct SurveyJob {
  /// Its inputs are files, folders and lists; output, and where they are wanted details and model,
  /// are folders.
  RedshiftJob job;
  PipelineOptions pipeline;
  ClaimOptions claims;
  std::vector<NamedFile> texts;  ///< that whoever runs this writes beside: a summary ...
  std::shared_ptr<redshift::DeviceScan> device;  ///< who scans; null: the CPU
};

/// A task for each file of spectra: files as they are; below a folder its coadd-*.fits, or where
/// there are none its spectra-*.fits, or else its spPlate-*.fits, also .gz and .fz, whose
/// subfolders the outputs keep; the lines of a list (.txt). The cameras of one exposure (frame,
/// sframe, cframe) are one task. Outputs: redrock-*.fits, rrdetails-*.h5, rrmodel-*.fits. Throws
/// kNotFound, kUsage where two files would have the same output.
[[nodiscard]] std::vector<Task> find_tasks(const RedshiftJob& job);

/// "coadd-0-80613" of "in/coadd-0-80613.fits.gz": files that belong together share what follows the
/// first word.
[[nodiscard]] std::string stem_of(const std::string& path);

[[nodiscard]] RunFolder run_folder(const SurveyJob& job);
/// The ledger's table "redshifts".
[[nodiscard]] LedgerShape ledger_shape();
/// Finds and inspects; writes nothing.
[[nodiscard]] BatchPlan plan_survey(const SurveyJob& job);

[[nodiscard]] BatchReport run_survey(const SurveyJob& job, const Observer& observer,
                                     const Monitor::Progress& progress, Tracer* tracer);

/// What several ranks need beside the survey itself.
struct SurveyRanksJob {
  SurveyJob survey;
  DispatchOptions dispatch;
  double silence_s = 20;            ///< see RankJob
  double launch_s = 0, open_s = 0;  ///< see RankReport
  std::function<void(const std::exception_ptr&)> fatal;
};
/// All ranks call it, with the same job. Afterwards Ranks::finish().
[[nodiscard]] RanksReport run_survey_on_ranks(Ranks& ranks, SurveyRanksJob job,
                                              const Observer& observer,
                                              const Monitor::Progress& progress, Tracer* tracer);

/// status.json: the run under the names that nights use, with "files" in place of frames.
[[nodiscard]] std::string status_json(const RunStatus& status);
/// status.html: self-contained, loads itself anew while the run goes on.
[[nodiscard]] std::string status_html(const RunStatus& status);

}  // namespace fiberloom::survey
