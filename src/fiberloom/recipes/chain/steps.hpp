// SPDX-License-Identifier: BSD-3-Clause
// The steps from frames to a catalogue, in their order, and their names.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace fiberloom::chain {

enum class Step {
  kExtract,
  kFiberFlat,  ///< of each lamp's frame, and the night's average of each camera
  kSky,
  kStdStars,
  kFluxCalib,
  kCalibrate,
  kQuality,
  kCoadd,
  kRedshift,
  kCatalogue,  ///< frames of each exposure and redshifts of each tile into a database
};

/// "extract", "fiberflat", ..., "catalogue": words of the command line, labels of tasks.
[[nodiscard]] const std::vector<std::string>& step_names();
/// The step of that name, if one has it.
[[nodiscard]] std::optional<Step> find_step(const std::string& name);
[[nodiscard]] inline const std::string& name_of(Step step) {
  return step_names()[static_cast<std::size_t>(step)];
}

}  // namespace fiberloom::chain
