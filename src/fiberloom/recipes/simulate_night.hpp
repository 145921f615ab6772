// SPDX-License-Identifier: BSD-3-Clause
// The recipe of `fiberloom simulate --night`: a night of lamps and fields, with the truth of every
// step of the calibration, and the models of stars and passbands that it needs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fiberloom/recipes/simulate_camera.hpp"

namespace fiberloom {

struct SimulateNightJob {
  std::string directory;                   ///< made when it is not there
  std::vector<std::string> cameras{"r0"};  ///< band b, r, z and spectrograph 0-9
  int nspec = 500;                         ///< fibres of each spectrograph
  int lamps = 2;                           ///< exposures of lamps, a lamp each, numbered from 1
  bool arc = false;                        ///< then one of an arc lamp
  int tiles = 1, exposures = 2;            ///< then `exposures` of each tile, tile by tile
  double brightest_mag = 18, faintest_mag = 20;  ///< of targets, AB, in the r camera
  std::uint64_t seed = 1;
  std::vector<std::string> templates;  ///< as `fiberloom redshift -t`; none: the built-in set
  WithDefects defects = WithDefects::kNo;
  TruthGrid truth_grid = TruthGrid::kFine;
  Overwrite overwrite = Overwrite::kYes;
};

/// Writes DIR/20200101/psf-CAM.fits, DIR/20200101/EXPID/preproc-CAM-EXPID.fits, DIR/truth/...,
/// DIR/starmodels.fits and DIR/filters/NAME.ecsv (docs/fiberloom/simulate.md). Returns the files in
/// order. They depend on the job alone. Throws kUsage for a job without sense, and what reading
/// templates and writing throw.
[[nodiscard]] std::vector<std::string> simulate_night(const SimulateNightJob& job,
                                                      Executor& executor,
                                                      const Observer& observer = {});

}  // namespace fiberloom
