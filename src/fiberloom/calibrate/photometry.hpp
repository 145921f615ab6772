// SPDX-License-Identifier: BSD-3-Clause
// Magnitudes of spectra and what dust takes of them: the names of the field's bands, their
// extinctions, and the curve between. Knows no files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/calibration.hpp"

namespace fiberloom::calibrate {

/// AB magnitudes of fluxes on one grid in one band: integrals of photons by trapezoids through the
/// grid's points and those of the band's points that share an interval with the one before, as
/// speclite. Throws kWrongShape where the grid does not reach over the band.
class BandIntegral {
 public:
  BandIntegral(const std::vector<double>& wave, const Passband& band);
  /// Of a flux [wave] in 1e-17 erg/(s cm2 Angstrom); O(points in the band). NaN of no light.
  template <class T>
  [[nodiscard]] double magnitude(const T* flux) const;

 private:
  std::size_t first_ = 0;       ///< of the grid's points
  std::vector<double> weight_;  ///< [points] what a point's flux adds, in maggies
};

/// The field's bands. kSouth: DECam; kNorth: BASS and MzLS; kGaia: its own of DR2.
enum class PhotometricSystem { kSouth, kNorth, kGaia };
/// 'S', 'N', 'G' of PHOTSYS; kSouth of anything else, as desispec takes rows without.
[[nodiscard]] PhotometricSystem photometric_system(const std::string& photsys) noexcept;

/// Names of a system's bands in files of passbands: "decam2014-g", "BASS-g", "gaiadr2-G" ... and
/// what is added to an AB magnitude for the one that catalogues have (Gaia's is Vega's).
struct Band {
  const char* name;  ///< in FIBERMAP: "G", "R", "Z"; "G", "BP", "RP"
  const char* file;
  double to_catalogue = 0;
  double per_ebv =
      0;  ///< magnitudes of extinction an E(B-V) of 1; of Gaia's: dust of colour counts
};
[[nodiscard]] std::span<const Band> bands_of(PhotometricSystem system) noexcept;

struct GaiaMagnitudes {
  double g = 0, bp = 0, rp = 0;
};
/// Extinction in Gaia's bands by the star's own colour (Babusiaux et al. 2018), E(B-V) on the scale
/// of Schlegel, Finkbeiner and Davis.
[[nodiscard]] GaiaMagnitudes gaia_extinction(const GaiaMagnitudes& seen, double ebv);

/// What dust of this E(B-V) (same scale) lets through at each wavelength (vacuum, Angstrom):
/// Fitzpatrick (1999), R_V 3.1, tied at 1 micron as Schlafly and Finkbeiner (2011) do.
[[nodiscard]] std::vector<double> dust_transmission(std::span<const double> wave, double ebv);

}  // namespace fiberloom::calibrate
