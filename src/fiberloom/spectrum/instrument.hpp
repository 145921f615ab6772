// SPDX-License-Identifier: BSD-3-Clause
// What is known of an instrument beforehand, by which fluxes are compared between fibres and the
// depth of an exposure is told: nouns that files keep. Knows neither how they are used nor what
// files hold them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "loom/base/array.hpp"

namespace fiberloom {

/// What share of a source's light a fibre catches, at nodes. Those of each axis increase, two at
/// least.
struct FiberAcceptance {
  std::vector<double> sigma;        ///< of the seeing, micron on the focal plane
  std::vector<double> offset;       ///< of the fibre from the source, micron
  std::vector<double> radius;       ///< that holds half of the light, arc seconds
  std::vector<double> point;        ///< [sigma][offset], falling with sigma
  std::vector<double> disk, bulge;  ///< [radius][sigma][offset]: exponential, de Vaucouleurs
};

struct FocalPlane {
  FiberAcceptance acceptance;
  std::vector<double> radius;           ///< mm, increasing
  std::vector<double> radial, azimuth;  ///< [radius] micron an arc second
  double fiber_um = 0, fiber_as = 0;    ///< diameter of a fibre, and what that is on average
};

/// How many CCD pixels a pixel's length of a spectrum is as noisy as, by fibre of a camera; four
/// wavelengths at least.
struct NoiseArea {
  std::vector<double> wave;            ///< Angstrom, increasing
  loom::Array2D<double> pixels;        ///< [fibre][wave]
  loom::Array2D<double> aa_per_pixel;  ///< [fibre][wave]
};

/// What targets of a kind differ by from their own smooth spectra, in one camera's band.
struct SnrTemplate {
  std::string kind;                            ///< "elg", "lrg", "gpbdark" ...
  std::vector<double> wave;                    ///< Angstrom, increasing
  std::vector<double> light;                   ///< [wave] rms, 1e-17 erg/(s cm2 Angstrom)
  std::optional<double> seconds_of_snr2 = {};  ///< effective exposure time that 1 is
};

}  // namespace fiberloom
