// SPDX-License-Identifier: BSD-3-Clause
// How deep an exposure went: for each fibre the squared signal to noise that typical targets of a
// kind would have had in it (desispec's TSNR2). Their fine structure is known beforehand, the noise
// is a model: read noise of the pixels that a bin is made of, the sky's light, and for bright kinds
// their own. Knows no files.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/calibration.hpp"
#include "fiberloom/spectrum/instrument.hpp"
#include "fiberloom/spectrum/spectra.hpp"

namespace fiberloom::calibrate {

/// Shares of the light in focal-plane fibres of average scale that the guide cameras saw during the
/// exposure: of a point, of a typical ELG and a typical BGS.
struct GuideShares {
  double point = 0, elg = 0, bgs = 0, lrg = 0;
};
/// The same of an exposure of which nobody knows: the usual ones.
[[nodiscard]] GuideShares usual_shares() noexcept;
/// With the LRGs' as it follows from the BGSs'.
[[nodiscard]] GuideShares measured_shares(double point, double elg, double bgs) noexcept;

/// One camera of one exposure; all of the same fibres and bins.
struct DepthInputs {
  const Spectra& raw;         ///< before anything was applied: ivar, mask and FIBERMAP count
  const Spectra& calibrated;  ///< of this, ivar and mask say which bins are used
  const FiberFlat& flat;
  const SkyModel& sky;
  const FluxCalibration& flux;
  const Array2D<double>& read_noise;      ///< [nspec][nwave] of a pixel, electrons
  const NoiseArea& area;                  ///< of the camera
  std::span<const std::size_t> area_row;  ///< [nspec] of `area`
  const FocalPlane& plane;
  GuideShares shares;
};

struct Depth {
  double read_noise_scale = 1;    ///< on its variance, as the sky fibres' errors ask for
  bool scale_was_raised = false;  ///< they asked for less than 0.8, which noise of the sky may do
  std::map<std::string, std::vector<double>> snr2;  ///< by kind [nspec]
};
/// O(nspec nwave kinds). Throws kNumerical where the tables make what is no number.
[[nodiscard]] Depth depth_of(const DepthInputs& in, std::span<const SnrTemplate> templates);

}  // namespace fiberloom::calibrate
