// SPDX-License-Identifier: BSD-3-Clause
// How good one spectrograph's frames of an exposure are: signal to noise, what is left of the sky,
// throughput, standard stars, and which fibres are to be used. Knows no files.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/calibration.hpp"
#include "fiberloom/spectrum/spectra.hpp"

namespace fiberloom::calibrate {

/// One camera: its spectra without sky, in flux where `flux` is there; sky and flux may be null.
struct QaCamera {
  char band = 'b';  ///< 'b', 'r', 'z'
  const Spectra* frame = nullptr;
  const SkyModel* sky = nullptr;
  const FluxCalibration* flux = nullptr;
};
/// True spectra of standard stars by the rows of the frames.
struct QaStar {
  std::size_t row = 0;
  std::span<const double> flux;  ///< at QaStars::wave
};
struct QaStars {
  std::span<const double> wave;
  std::vector<QaStar> stars;
};

/// Limits beyond which a fibre or all of a petal is not to be used; desispec's.
struct QaLimits {
  double poor_offset_mm = 0.03;
  double most_bad_positions = 0.6;  ///< share of a petal's fibres
  std::size_t fewest_stars = 3;
  double star_rms = 0.2, star_rms_of_few = 0.05;
};

struct CameraQa {
  char band = 'b';
  std::vector<double> snr;     ///< [nspec] median for a square root of an Angstrom
  double median_snr = 0;       ///< of fibres that see a target and are to be used
  double without = 0;          ///< share of pixels of fibres to be used that have ivar 0
  std::size_t sky_fibers = 0;  ///< to be used
  /// Of sky fibres' pixels in units of their errors: chi2 over pixels less bins, mean, and rms.
  double sky_chi2_per_dof = 0, sky_mean = 0, sky_width = 0;
  double sky_throughput_rms = 0;  ///< 1.48 x median of |throughput of lines - 1|
  double throughput = 0;  ///< electrons of a flux of 1, middle half of the bins, median fibre
};
struct ExposureQa {
  std::vector<std::uint32_t> status;  ///< [nspec] FIBERSTATUS with what was found
  std::vector<CameraQa> cameras;
  std::size_t stars = 0;  ///< of which light and model were compared
  double star_rms = 0;    ///< of light / model - 1, 6000 to 7500 Angstrom
  std::size_t good_positions = 0, good_fibers = 0;
};

/// `cameras` of one spectrograph, the same fibres in each; rows of FIBERMAP of the first say
/// FIBERSTATUS, DELTA_X and DELTA_Y (mm; without them positions are good), OBJTYPE. `stars`: none
/// where nobody asks. Throws kWrongShape where cameras have other fibres.
[[nodiscard]] ExposureQa exposure_qa(std::span<const QaCamera> cameras, const QaStars* stars,
                                     const QaLimits& limits);

/// Bits of FIBERSTATUS that keep a fibre from being counted as good.
[[nodiscard]] std::uint32_t not_good_bits() noexcept;

}  // namespace fiberloom::calibrate
