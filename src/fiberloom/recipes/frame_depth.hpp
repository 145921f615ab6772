// SPDX-License-Identifier: BSD-3-Clause
// How deep a calibrated frame is: TSNR2 of each fibre and kind of target into its SCORES, as
// desi_process_exposure leaves them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fiberloom/calibrate/template_snr.hpp"
#include "fiberloom/formats/formats.hpp"
#include "fiberloom/recipes/calibrate_frame.hpp"
#include "loom/base/error.hpp"

namespace fiberloom {

/// Where desimodel lies: what was asked for, else $DESIMODEL where it has templates of depth;
/// empty: nowhere.
[[nodiscard]] std::string find_desimodel(const std::string& asked);

/// What `work` throws is an error where the folder was asked for by name; of $DESIMODEL, which
/// nobody asked for now, it is a warning that ends in `without`.
template <class Work>
void with_desimodel(const CalibrationJob& job, const std::string& desimodel, const char* without,
                    const Observer& observer, Work work) {
  if (!job.desimodel.empty()) return work();
  try {
    work();
  } catch (const Error& error) {
    observer.warn(std::string(error.what()) + "; " + without + " ($DESIMODEL is " + desimodel +
                  ")");
  }
}

/// Its files that a camera's calibration reads, as far as they are there.
[[nodiscard]] std::vector<std::string> model_files(const std::string& desimodel,
                                                   const std::string& camera);

/// What a frame went through.
struct DepthSteps {
  const Spectra& raw;  ///< before anything was applied
  const FiberFlat& flat;
  const SkyModel& sky;
  const FluxCalibration& flux;
};
/// What depth asks of an exposure beside its spectra.
struct DepthFacts {
  std::string camera;               ///< "r0"
  std::vector<std::size_t> fibers;  ///< [nspec] within its spectrograph
  Array2D<double> read_noise;       ///< [nspec][nwave] of a pixel, electrons
  calibrate::GuideShares shares;
};
/// FIBER of the FIBERMAP, without it counted from `first`; within a spectrograph.
[[nodiscard]] std::vector<std::size_t> fibers_of_spectrograph(const Spectra& spectra, int first);
/// [fibre][wave]: of the pixels that the PSF says a fibre's light falls on, by OBSRDN and CCDSEC of
/// each amplifier, or RDNOISE; off all amplifiers as good as without information. Errors name
/// `where` the cards are, and the PSF's file.
[[nodiscard]] Array2D<double> read_noise_of(const std::string& where, const HeaderCards& header,
                                            std::span<const double> wave,
                                            std::span<const std::size_t> fibers,
                                            const PsfFile& psf);
/// As the guide cameras left them in the header; else the usual ones.
[[nodiscard]] calibrate::GuideShares guide_shares_of(const HeaderCards& header);

/// By the templates, the camera's noise and the focal plane of a folder as $DESIMODEL. Throws what
/// reading these does, kWrongShape where they lack a fibre.
[[nodiscard]] calibrate::Depth measure_depth(const DepthSteps& steps, const Spectra& calibrated,
                                             const DepthFacts& facts, const std::string& desimodel);

/// Columns TSNR2_KIND_BAND of SCORES and the card TSNRALPH of `frame`, which is calibrated. Needs
/// CAMERA, and OBSRDN and CCDSEC of each amplifier or RDNOISE; the camera's PSF is job.psf. Errors
/// name the file.
void add_depth(FrameFile& frame, const DepthSteps& steps, const std::string& desimodel,
               const CalibrationJob& job, const Observer& observer);

}  // namespace fiberloom
