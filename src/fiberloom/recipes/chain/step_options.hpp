// SPDX-License-Identifier: BSD-3-Clause
// Options of the steps of a night: those rows of each step's own option table that its numbers
// depend on, by the step's name and the row's key, as a job file and --set have them.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fiberloom/recipes/calibrate_frame.hpp"
#include "fiberloom/recipes/chain/steps.hpp"
#include "fiberloom/recipes/coadd/coadd_spectra.hpp"
#include "fiberloom/recipes/redshift/redshift_job.hpp"

namespace fiberloom::chain {

/// "KEY=VALUE" of a step, in the order in which they were set; each key once.
using StepOptions = std::vector<std::string>;
using AllStepOptions = std::map<Step, StepOptions>;

/// Sets one. Throws kUsage where there is no such step, the step has no such option or the text is
/// no value of it.
void set_step_option(AllStepOptions& all, const std::string& step, const std::string& key,
                     const std::string& text);

/// "sky.method=desispec" taken apart: step, key, text. Throws kUsage.
struct StepSetting {
  std::string step, key, text;
};
[[nodiscard]] StepSetting parse_step_setting(const std::string& text);

/// Throws kUsage where options of a step contradict each other.
void check(const AllStepOptions& all);

[[nodiscard]] const StepOptions& options_of(const AllStepOptions& all, Step step);

/// Every option of a step that its numbers depend on: key and text, as set or by default.
using StepSettings = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] StepSettings settings_of(const StepOptions& options, Step step);

/// Puts them where they belong.
void apply(const StepOptions& options, CalibrationJob& job);
void apply(const StepOptions& options, CoaddJob& job);
void apply(const StepOptions& options, RedshiftJob& job);

/// Which option table a calibration step goes by; kFiberFlat of those that are none.
[[nodiscard]] CalibrationStep calibration_step(Step step);

}  // namespace fiberloom::chain
