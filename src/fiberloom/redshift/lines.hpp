// SPDX-License-Identifier: BSD-3-Clause
// Fluxes of emission lines at a redshift, and the cuts that users make of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fiberloom/redshift/target.hpp"

namespace fiberloom::redshift {

struct LineFlux {
  std::string name;      ///< "OII", "HBETA" ... (line_names())
  double flux = 0;       ///< sum over the line's parts, flux density x Angstrom
  double ivar = 0;       ///< 0: not seen, or no good pixels
  double sigma_kms = 0;  ///< the likeliest width, before the resolution
};

/// OII (3727, 3730), HBETA, OIII (4960, 5008), HALPHA, NII (6550, 6585), MGII, in this order.
[[nodiscard]] std::vector<std::string> line_names();

/// Least squares of a Gaussian seen through R (parts of a doublet in their usual ratio) on a
/// straight continuum, 2500 km/s to either side (H alpha and [NII] at once), all cameras together.
/// Widths of 40 to 320 km/s, 80 the likeliest beforehand, are weighed by how well they fit: flux is
/// their mean, and its error knows of the width. One a name.
[[nodiscard]] std::vector<LineFlux> line_fluxes(const PreparedTarget& target,
                                                std::span<const WaveGrid> grids, double z);

/// Bits of Candidate::quality: what each survey of DESI takes for a good redshift.
namespace quality {
inline constexpr std::uint32_t kBgs = 1U << 0,  ///< ZWARN 0, DELTACHI2 > 40
    kLrg = 1U << 1,                             ///< ZWARN 0, DELTACHI2 > 15, z < 1.5
    kElg = 1U << 2,  ///< log10(S/N of [OII]) > 0.9 - 0.2 log10(DELTACHI2)
    kQso = 1U << 3;  ///< SPECTYPE QSO, ZWARN 0
}  // namespace quality

}  // namespace fiberloom::redshift
