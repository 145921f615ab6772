// SPDX-License-Identifier: BSD-3-Clause
// What share of a source's light a fibre catches, by seeing, offset and size, and by where it is:
// the focal plane's scale says how large a fibre is on the sky. Knows no files.
#pragma once

#include <optional>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/instrument.hpp"
#include "fiberloom/spectrum/table.hpp"

namespace fiberloom::calibrate {

/// Shares of light between the nodes, and beyond the last ones, on straight lines; 0 to 1.
[[nodiscard]] double caught_of_point(const FiberAcceptance& a, double sigma_um, double offset_um);
[[nodiscard]] double caught_of_disk(const FiberAcceptance& a, double radius_as, double sigma_um,
                                    double offset_um);
[[nodiscard]] double caught_of_bulge(const FiberAcceptance& a, double radius_as, double sigma_um,
                                     double offset_um);
/// The sigma, within the nodes, at which a point in the middle of its fibre loses as much.
[[nodiscard]] double sigma_of_share(const FiberAcceptance& a, double share_of_point);

/// Micron an arc second at a place, both directions alike.
[[nodiscard]] double plate_scale(const FocalPlane& plane, double x_mm, double y_mm);

/// Sigma of a profile of this width at half of its height, as desispec has it (2.35, not 2.3548).
[[nodiscard]] inline double sigma_of_fwhm(double fwhm) noexcept { return fwhm / 2.35; }

/// Where fibres are, and how far from their targets; what is no number is 0.
struct FiberPlaces {
  std::vector<double> x, y;    ///< mm
  std::vector<double> offset;  ///< micron
};
/// FIBER_X, FIBER_Y, DELTA_X and DELTA_Y (without them 0); nullopt without the first two.
[[nodiscard]] std::optional<FiberPlaces> fiber_places(const Table& fibermap);

/// desispec's FLAT_TO_PSF_FLUX: what multiplies a flat-fielded fibre's point source so that all
/// fibres have lost the same of it, the median of those that see a target 1. 0: less than a
/// hundredth of the light is caught; sky fibres 1. nullopt where places are not known.
[[nodiscard]] std::optional<std::vector<double>> flat_to_psf_flux(const Table& fibermap,
                                                                  const FocalPlane& plane,
                                                                  double seeing_fwhm_as);

/// desispec's PSF_TO_FIBER_FLUX: what makes the flux of a point calibration the light in a fibre of
/// 1.5 arc seconds in a seeing of 1, as imaging surveys have it: by MORPHTYPE (none: points) and
/// SHAPE_R (at most 2 arc seconds). 0: less than a hundredth of the light is caught.
[[nodiscard]] std::optional<std::vector<double>> psf_to_fiber_flux(const Table& fibermap,
                                                                   const FocalPlane& plane,
                                                                   double seeing_fwhm_as);

}  // namespace fiberloom::calibrate
