// SPDX-License-Identifier: BSD-3-Clause
// One exposure of one camera with its truth: targets and sky -> spectra -> CCD -> noise -> defects.
// Arrays in, arrays out; recipes/simulate_camera.hpp writes files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fiberloom/psf/psf_model.hpp"
#include "fiberloom/simulate/defects.hpp"
#include "fiberloom/simulate/noise.hpp"
#include "fiberloom/simulate/spectra.hpp"
#include "fiberloom/simulate/targets.hpp"
#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"

namespace fiberloom {

/// Where the light lives.
enum class TruthGrid {
  kFine,        ///< bins of fine_step_aa that tile the extraction bins: nature
  kExtraction,  ///< the bins of the extraction grid itself, so that p = A f + n holds exactly
};

struct ExposureOptions {
  char band = 'r';       ///< b, r or z
  int spectrograph = 0;  ///< 0..9
  int nspec = 500;       ///< fibres 0 .. nspec-1 are lit (at most those of the PSF)
  std::int64_t expid = 1;
  std::uint64_t seed = 1;
  double exptime_s = 900;
  double readnoise_e = 3;
  VarianceFrom variance = VarianceFrom::kTrueMean;
  TruthGrid truth_grid = TruthGrid::kFine;
  double fine_step_aa = 0.4;
  double cosmics_per_ccd = 600;
  std::optional<DefectOptions> defects;  ///< its seed and owner are set from here
};

struct SimulatedExposure {
  std::string camera;              ///< "r0"
  std::vector<Target> targets;     ///< one a fibre of the PSF, lit or not
  std::vector<double> truth_wave;  ///< centres of uniform bins, vacuum Angstrom
  Array2D<double> truth_flux;      ///< [nspec][truth_wave.size()], electrons/Angstrom
  NoisyFrame frame;
};

/// Same bytes for every executor. About 6 core-seconds for 500 fibres. Throws kUsage for options
/// without sense and kNotCovered when the PSF does not see the grid of the band.
[[nodiscard]] SimulatedExposure simulate_exposure(const PsfModel& psf,
                                                  const ExposureOptions& options,
                                                  Executor& executor,
                                                  const Observer& observer = {});

// Parts of it, for who has light of his own.

/// The bins that light lives in: all that fall on the CCD. Throws as simulate_exposure().
[[nodiscard]] BinGrid truth_bins(const PsfModel& psf, const ExposureOptions& options);

/// The CCD that `electrons` [fibres from 0][bins] make: projected, with noise, cosmic rays and
/// defects; of the options nspec and the truth's grid are not used. Same bytes for every executor.
[[nodiscard]] NoisyFrame expose_light(const PsfModel& psf, const ExposureOptions& options,
                                      const BinGrid& bins, const Array2D<double>& electrons,
                                      Executor& executor, const Observer& observer = {});

}  // namespace fiberloom
