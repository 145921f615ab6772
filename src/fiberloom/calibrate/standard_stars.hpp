// SPDX-License-Identifier: BSD-3-Clause
// Standard stars of an exposure, or of several: which of them have light and photometry enough,
// and what their true spectra are. Knows no files.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "fiberloom/calibrate/photometry.hpp"
#include "fiberloom/calibrate/star_fit.hpp"
#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/spectra.hpp"

namespace fiberloom::calibrate {

/// The colour by which models are chosen. kAny: G - R of the imaging surveys, where a star has it,
/// else Gaia's BP - RP.
enum class StarColour { kAny, kGR, kRZ, kGaiaBpRp, kGaiaGRp };

/// What catalogues say of stars, a row each.
struct StarCatalogue {
  StarColour colour = StarColour::kGR;    ///< never kAny
  std::vector<bool> known;                ///< whether the star has photometry that can be true
  std::vector<std::string> lacks;         ///< why it has none: "FLUX_R is nan"
  std::vector<PhotometricSystem> system;  ///< whose bands
  std::vector<double> ebv, seen;          ///< the colour as it is seen
  std::vector<double> free;               ///< the colour without dust
  std::vector<double> reference;          ///< magnitude (as seen) that fluxes are scaled to
  /// Why Gaia's colour was taken for kAny though there are columns of the imaging surveys, what
  /// the first star lacks there; empty otherwise.
  std::string not_imaged;
};
/// From FLUX_G, FLUX_R, FLUX_Z (nanomaggies) and PHOTSYS, or GAIA_PHOT_G_MEAN_MAG and so on; EBV.
/// Throws kNumerical where no star has photometry for the colour that is wanted.
[[nodiscard]] StarCatalogue star_catalogue(const Table& stars, StarColour wanted);
/// "G-R", "R-Z", "GAIA-BP-RP", "GAIA-G-RP", as METADATA names them.
[[nodiscard]] const char* name_of(StarColour colour) noexcept;

/// One camera's spectra of the same stars, flat-fielded, without sky; pixels that are not to be
/// used have ivar 0.
struct StarCamera {
  char band = 'b';
  Spectra stars;
};
/// Exposures of one camera as one: weighted by ivar and by how much light each has. Throws
/// kWrongShape where grids differ, kNumerical where no star has light.
[[nodiscard]] Spectra sum_star_exposures(std::span<const Spectra> exposures);

struct StandardStarOptions {
  double colour_distance = 0.2;  ///< of models from the star, magnitudes
  double least_blue_snr = 4;     ///< median, for a square root of an Angstrom
  int most_stars = 30;           ///< those of most light in the blue
  StarFitOptions fit;
};

/// Passbands by name (Band::file).
using PassbandSource = std::function<Passband(const std::string& name)>;

struct StandardStar {
  std::size_t row = 0;
  double teff = 0, logg = 0, metal = 0, redshift = 0, chi2_per_dof = 0;
  double seen_colour = 0, model_colour = 0;
  std::array<double, 3> snr{};       ///< of b, r, z
  std::vector<double> coefficients;  ///< [nmodel]
  std::vector<double> flux;          ///< [wave of the grid] 1e-17 erg/(s cm2 Angstrom)
};
struct StandardStars {
  std::vector<StandardStar> stars;  ///< of most light first
  std::size_t without_photometry = 0, too_faint = 0, without_model = 0;
};

/// The spectra of the stars as they come to the telescope: models within `colour_distance`, dust in
/// front of them, at their reference magnitude. Throws kNumerical where no star is left, with what
/// became of them.
[[nodiscard]] StandardStars find_standard_stars(
    std::span<const StarCamera> cameras, const StarCatalogue& catalogue, const StellarGrid& grid,
    const PassbandSource& passbands, const StandardStarOptions& options, Executor& executor);

}  // namespace fiberloom::calibrate
