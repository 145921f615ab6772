// SPDX-License-Identifier: BSD-3-Clause
// The recipes of calibration, a frame at a time: the fibre flat of a lamp's frame, the sky of a
// science frame, and a frame with both applied.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fiberloom/calibrate/fiber_flat.hpp"
#include "fiberloom/calibrate/sky.hpp"
#include "fiberloom/formats/calibration_file.hpp"
#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "loom/files/output_files.hpp"

namespace fiberloom {

/// Whose rules: ours, or desispec's where they differ (docs/fiberloom/calibration-design.md).
enum class CalibrationMethod { kOurs, kDesispec };

/// What all steps have.
struct CalibrationFiles {
  std::string input, flat, sky, output;  ///< empty: the step has none
  CalibrationMethod method = CalibrationMethod::kOurs;
  Verify verify = Verify::kYes;
  Overwrite overwrite = Overwrite::kYes;
};
/// Throws kUsage, kOutputExists, kUnwritable before anything is read. `more`: texts beside.
void check_outputs(const CalibrationFiles& files, std::span<const NamedFile> more);

struct FiberFlatJob {
  CalibrationFiles files;  ///< input: a lamp's frame
  double clip_nsig = 10, accuracy = 5e-4, spacing_aa = 5;
};
struct FiberFlatSummary {
  std::size_t nspec = 0, nwave = 0, lost_fibers = 0, rejected = 0, masked = 0;
  int iterations = 0;
  double chi2_per_dof = 0;
};
/// Frame -> fibre flat. Errors name the file.
FiberFlatSummary make_fiber_flat(const FiberFlatJob& job, Executor& executor,
                                 const Observer& observer);

struct SkyJob {
  CalibrationFiles files;  ///< input: a frame; flat: empty where it has been divided already
};
struct SkySummary {
  std::size_t nspec = 0, nwave = 0, sky_fibers = 0, discarded = 0, clipped = 0, without = 0;
  int iterations = 0;
};
/// Frame and fibre flat -> sky.
SkySummary make_sky(const SkyJob& job, Executor& executor, const Observer& observer);

struct CalibrateJob {
  CalibrationFiles files;  ///< input: a frame; flat and sky: each may be empty
};
struct CalibrateSummary {
  std::size_t nspec = 0, nwave = 0, without = 0;  ///< without: pixels of ivar 0
};
/// Frame -> frame divided by the flat, without the sky: desispec's fframe and sframe.
CalibrateSummary calibrate_frame(const CalibrateJob& job, const Observer& observer);

}  // namespace fiberloom
