// SPDX-License-Identifier: BSD-3-Clause
// Exposures of one camera whose every ingredient is known: fibres' throughputs, lamp, sky, stars
// and targets, as extracted frames show them. What the steps of the calibration are judged by.
#pragma once

#include <cstdint>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/spectra.hpp"
#include "fiberloom/truth/spectrograph.hpp"
#include "loom/base/array.hpp"
#include "loom/base/executor.hpp"

namespace fiberloom::truth {

/// What the ivar of an exposure is made of. kData: what the pixel itself shows, noise included, as
/// frames without a model of their variance have it. kLight: the variance of the light that is
/// there.
enum class KnownNoise { kData, kLight };

struct ExposureOptions {
  std::uint64_t seed = 1;  ///< of the night: fibres' throughputs
  std::size_t nspec = 500;
  KnownNoise noise = KnownNoise::kData;
  double throughput_rms = 0.06;  ///< of fibres
  double ripple_rms = 0.02;      ///< of one fibre along wavelength, smooth
  double bad_pixels = 0.002;     ///< share with ivar 0 and a mask bit
  double hot_pixels = 0.0003;    ///< share with a spike that nobody flagged, up to 4000 electrons
  std::size_t sky_every = 12;    ///< each so many-th fibre sees sky alone
  std::size_t star_every = 25;   ///< each so many-th of a field sees a standard star
};

/// One camera's frame, electrons per bin, and what is true of it. FIBERMAP has TARGETID, FIBER,
/// OBJTYPE, FIBERSTATUS, DESI_TARGET.
struct Exposure {
  Spectra spectra;
  Array2D<double> light;       ///< [nspec][nwave] electrons expected in each bin
  Array2D<double> throughput;  ///< [nspec][nwave] of each fibre, median fibre 1 at each wavelength
  Array2D<double> sky;         ///< [nspec][nwave] of it the sky's, behind R and throughput
  Array2D<double> flux;        ///< [nspec][nwave] of targets before R, 1e-17 erg/(s cm2 Angstrom)
  std::vector<double> calibration;  ///< [nwave] electrons of a flux of 1, before R: sharp
  std::vector<double> lamp;         ///< [nwave] electrons of a lamp, before R
};

/// Exposure `number` of a dome lamp: a continuum of up to 1e4 electrons a bin with faint lines.
[[nodiscard]] Exposure lamp_exposure(const Spectrograph& spectrograph, std::size_t camera,
                                     const ExposureOptions& options, std::uint64_t number,
                                     Executor& executor);

/// Exposure `number` of a field: sky in all fibres; standard stars (F stars of 17 to 18.5 mag with
/// Balmer lines) and faint targets in those that do not see sky alone; the atmosphere absorbs in
/// lines.
[[nodiscard]] Exposure field_exposure(const Spectrograph& spectrograph, std::size_t camera,
                                      const ExposureOptions& options, std::uint64_t number,
                                      Executor& executor);

}  // namespace fiberloom::truth
