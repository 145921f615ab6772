// SPDX-License-Identifier: BSD-3-Clause
// What a spectrograph like DESI's does to a spectrum, without its CCDs: wavelengths, resolution,
// throughput and noise of three cameras, from the same PSF, sky and throughput as simulated frames.
#pragma once

#include <string>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "fiberloom/psf/psf_model.hpp"
#include "loom/base/array.hpp"

namespace fiberloom::truth {

/// Diagonals of R, as DESI's files have.
inline constexpr std::size_t kDiagonals = 11;

/// One camera; all vectors [nwave], in bins of 0.8 Angstrom.
struct CameraModel {
  std::string name;  ///< "B", "R", "Z"
  std::vector<double> wave;
  std::vector<double> counts;         ///< electrons of a flux of 1e-17 erg/(s cm2 Angstrom)
  std::vector<double> sky;            ///< electrons of the dark sky, blurred
  std::vector<double> sky_continuum;  ///< what of it is no line
  std::vector<double> sky_slope;      ///< d sky / d wavelength, electrons per Angstrom
  double read_variance = 0;           ///< electrons^2
  PsfModel psf;
};

class Spectrograph {
 public:
  /// Exposures of exptime_s in all. About 20 ms a camera.
  explicit Spectrograph(double exptime_s, std::uint64_t seed = 1);
  [[nodiscard]] const std::vector<CameraModel>& cameras() const noexcept { return cameras_; }
  [[nodiscard]] double exptime_s() const noexcept { return exptime_s_; }
  [[nodiscard]] int nfiber() const noexcept { return cameras_.front().psf.nfiber(); }
  /// [kDiagonals][nwave] of one fibre, in the layout of banded.hpp: the Gaussian core of the PSF
  /// along the trace, averaged over the bins that light comes from. An extraction that decorrelates
  /// its bins has this resolution but for the wings of the PSF. Rows sum to 1 away from the ends.
  [[nodiscard]] Array2D<float> resolution(std::size_t camera, int fiber) const;

 private:
  double exptime_s_;
  std::vector<CameraModel> cameras_;
};

}  // namespace fiberloom::truth
