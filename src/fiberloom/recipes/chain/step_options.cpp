// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/chain/step_options.hpp"

#include "fiberloom/recipes/calibration_option_table.hpp"
#include "fiberloom/recipes/coadd/coadd_option_table.hpp"
#include "fiberloom/recipes/redshift/redshift_option_table.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::chain {
namespace {

/// Of its own: extraction's are those of frames.
bool has_options(Step step) { return step != Step::kExtract && step != Step::kCatalogue; }

Step step_of(const std::string& name) {
  const std::optional<Step> found = find_step(name);
  if (found && has_options(*found)) return *found;
  const auto& names = step_names();
  std::string all;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (has_options(static_cast<Step>(i))) all += (all.empty() ? "" : ", ") + names[i];
  }
  throw Error(Status::kUsage, name + ": no step with options of its own, expected one of " + all);
}

/// Sets what has a row that `may` be set; throws kUsage with the keys that there are.
template <class Job, class May>
void set_row(std::span<const loom::OptionRow<Job>> rows, Job& job, const std::string& key,
             const std::string& text, May may) {
  std::string known;
  for (const loom::OptionRow<Job>& row : rows) {
    if (!row.decides_numbers || !may(row)) continue;
    if (row.key == key) return set_option(row, job, text);
    known += (known.empty() ? "" : ", ") + std::string(row.key);
  }
  throw Error(Status::kUsage,
              key + ": no such option of the step" +
                  (known.empty() ? ", which has none" : ", expected one of " + known));
}

void set_one(CalibrationJob& job, const std::string& key, const std::string& text) {
  set_row(calibration_option_rows(), job, key, text,
          [&](const auto& row) { return belongs_to(row, job.step); });
}

void set_one(CoaddJob& job, const std::string& key, const std::string& text) {
  set_row(coadd_option_rows(), job, key, text, [](const auto&) { return true; });
}

void set_one(RedshiftJob& job, const std::string& key, const std::string& text) {
  set_row(redshift_option_rows(), job, key, text, [](const auto&) { return true; });
}

template <class Job>
void apply_all(const StepOptions& options, Job& job) {
  for (const std::string& option : options) {
    const auto at = option.find('=');
    set_one(job, option.substr(0, at), option.substr(at + 1));
  }
}

/// Are these all options of the step, which must go together?
enum class Whole { kNo, kYes };

void try_out(Step step, const StepOptions& options, Whole whole) {
  if (step == Step::kRedshift) {
    RedshiftJob job;
    apply(options, job);
    job.inputs = {"coadd"}, job.output = "redrock";  // a task has them
    if (whole == Whole::kYes) validate(job);
  } else if (step == Step::kCoadd) {
    CoaddJob job;
    apply(options, job);
    if (whole == Whole::kYes) check_options(job);
  } else {
    CalibrationJob job;
    job.step = calibration_step(step);
    apply(options, job);
  }
}

}  // namespace

CalibrationStep calibration_step(Step step) {
  switch (step) {
    case Step::kSky:
      return CalibrationStep::kSky;
    case Step::kStdStars:
      return CalibrationStep::kStdStars;
    case Step::kFluxCalib:
      return CalibrationStep::kFluxCalib;
    case Step::kCalibrate:
      return CalibrationStep::kCalibrate;
    case Step::kQuality:
      return CalibrationStep::kQuality;
    default:
      return CalibrationStep::kFiberFlat;
  }
}

void set_step_option(AllStepOptions& all, const std::string& step, const std::string& key,
                     const std::string& text) {
  const Step which = step_of(step);
  try {
    try_out(which, {key + "=" + text}, Whole::kNo);
  } catch (const Error& error) {
    throw Error(error.status(), step + ": " + error.what());
  }
  StepOptions& options = all[which];
  std::erase_if(options, [&](const std::string& known) { return known.starts_with(key + "="); });
  options.push_back(key + "=" + text);
}

StepSetting parse_step_setting(const std::string& text) {
  const auto equals = text.find('='), dot = text.find('.');
  if (equals == std::string::npos || dot >= equals || dot == 0 || dot + 1 == equals) {
    throw Error(Status::kUsage,
                "--set " + text + ": expected STEP.KEY=VALUE, as sky.method=desispec");
  }
  return {text.substr(0, dot), text.substr(dot + 1, equals - dot - 1), text.substr(equals + 1)};
}

void check(const AllStepOptions& all) {
  for (const auto& [step, options] : all) {
    try {
      try_out(step, options, Whole::kYes);
    } catch (const Error& error) {
      throw Error(error.status(), name_of(step) + ": " + error.what());
    }
  }
}

const StepOptions& options_of(const AllStepOptions& all, Step step) {
  static const StepOptions none;
  const auto found = all.find(step);
  return found == all.end() ? none : found->second;
}

StepSettings settings_of(const StepOptions& options, Step step) {
  if (!has_options(step)) return {};
  if (step == Step::kRedshift) {
    RedshiftJob job;
    apply(options, job);
    return loom::option_texts<RedshiftJob>(redshift_option_rows(), job, true);
  }
  if (step == Step::kCoadd) {
    CoaddJob job;
    apply(options, job);
    return loom::option_texts<CoaddJob>(coadd_option_rows(), job, true);
  }
  CalibrationJob job;
  job.step = calibration_step(step);
  apply(options, job);
  return calibration_settings(job);
}

void apply(const StepOptions& options, CalibrationJob& job) { apply_all(options, job); }
void apply(const StepOptions& options, CoaddJob& job) { apply_all(options, job); }
void apply(const StepOptions& options, RedshiftJob& job) { apply_all(options, job); }

}  // namespace fiberloom::chain
