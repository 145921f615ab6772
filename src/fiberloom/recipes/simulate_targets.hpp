// SPDX-License-Identifier: BSD-3-Clause
// The recipe of `fiberloom simulate --targets`: spectra of known redshift -> coadd and truth files.
#pragma once

#include <string>
#include <vector>

#include "fiberloom/formats/formats.hpp"
#include "fiberloom/truth/survey.hpp"
#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"

namespace fiberloom {

/// Targets of one file: a petal.
inline constexpr std::size_t kTargetsOfFile = 500;
/// All files are named before the first one is made.
inline constexpr std::size_t kMostTargets = 100'000'000;

struct SimulateTargetsJob {
  std::string directory;  ///< made when it is not there
  std::size_t targets = 0;
  std::vector<std::string> templates;   ///< as `fiberloom redshift -t`; none: the built-in set
  std::vector<std::string> archetypes;  ///< files or folders; none: none
  truth::SurveyOptions survey;
  Overwrite overwrite = Overwrite::kYes;
};

/// Writes DIR/coadd-NNNN.fits (as DESI's coadds) and DIR/truth-NNNN.fits (table TRUTH: TARGETID,
/// SPECTYPE, SUBTYPE, Z, SNR, MAG_R, SOURCE, MISSING, COEFF) for every kTargetsOfFile targets, from
/// 0000. Returns the files in order. Files depend on the job alone. Memory does not grow with
/// `targets`. Throws kUsage, and what reading templates and writing throw.
[[nodiscard]] std::vector<std::string> simulate_targets(const SimulateTargetsJob& job,
                                                        Executor& executor,
                                                        const Observer& observer = {});

/// One file's worth as files have it.
[[nodiscard]] SpectraFile survey_file(truth::Survey&& survey,
                                      const truth::Spectrograph& spectrograph,
                                      const truth::SurveyOptions& options);
[[nodiscard]] Table truth_table(const std::vector<truth::TrueTarget>& targets);

}  // namespace fiberloom
