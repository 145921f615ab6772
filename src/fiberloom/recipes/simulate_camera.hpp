// SPDX-License-Identifier: BSD-3-Clause
// The recipe of `fiberloom simulate`: cameras and exposures -> PSF, preproc and truth files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fiberloom/formats/formats.hpp"
#include "fiberloom/simulate/exposure.hpp"
#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "loom/trace/trace.hpp"

namespace fiberloom {

enum class WithDefects { kNo, kYes };

/// Of each camera: the files of all are named before the first one is made.
inline constexpr int kMostExposures = 10000;

struct SimulateJob {
  std::string directory;                   ///< made when it is not there
  std::vector<std::string> cameras{"r0"};  ///< band b, r, z and spectrograph 0-9
  int nspec = 500;                         ///< fibres that are lit: the first ones of the PSF
  int exposures = 1;                       ///< numbered from 1
  std::uint64_t seed = 1;
  std::string psf;  ///< use this PSF file instead of making one; empty: make
  WithDefects defects = WithDefects::kNo;
  TruthGrid truth_grid = TruthGrid::kFine;
  Gh00 gh00 = Gh00::kFile;       ///< how to read `psf`
  Verify verify = Verify::kYes;  ///< of `psf`
  Overwrite overwrite = Overwrite::kYes;
};

struct SimulateSummary {
  std::vector<std::string> files;  ///< all files written, in order
  int nspec = 0;                   ///< lit fibres
};

/// Writes DIR/psf-CAM.fits, DIR/preproc-CAM-EXPID.fits and DIR/truth-CAM-EXPID.fits, EXPID with 8
/// digits. Files depend on the job alone, not on the executor, the date or the machine. Throws
/// kUsage for a camera name that is none, kFiberRange where a PSF has fewer fibres than are asked
/// for (but for 500, which means all of a smaller one), and what reading and writing throw.
[[nodiscard]] SimulateSummary simulate_cameras(const SimulateJob& job, Executor& executor,
                                               const Observer& observer = {},
                                               Tracer* tracer = nullptr);

/// FIBERMAP of targets: TARGETID, FIBER, PETAL_LOC, DEVICE_LOC, LOCATION, TARGET_RA, TARGET_DEC,
/// OBJTYPE, DESI_TARGET, FIBERSTATUS (bit 2, BROKENFIBER, from `nlit` on), and what desispec's
/// grouping asks for: FIBER_X, _Y, _RA, _DEC, DELTA_X, _Y, GAIA_PHOT_G, _BP, _RP_MEAN_MAG. With
/// truth also REDSHIFT and CLASS.
enum class TruthColumns { kNo, kYes };
[[nodiscard]] RawTable make_fibermap(const std::vector<Target>& targets, std::size_t nlit,
                                     TruthColumns truth);

}  // namespace fiberloom
