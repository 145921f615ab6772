// SPDX-License-Identifier: BSD-3-Clause
// The light of a night whose every ingredient is known: lamps, and fields of sky, standard stars
// and targets of known type and redshift, as electrons that fall on a CCD. Arrays in, arrays out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "fiberloom/simulate/spectra.hpp"
#include "fiberloom/truth/stars.hpp"
#include "fiberloom/truth/survey.hpp"
#include "loom/base/array.hpp"
#include "loom/base/executor.hpp"

namespace fiberloom::truth {

struct NightOptions {
  std::uint64_t seed = 1;
  std::size_t nspec = 500;       ///< fibres of a spectrograph
  double exptime_s = 900;        ///< of a field
  double throughput_rms = 0.06;  ///< of fibres
  double ripple_rms = 0.02;      ///< of one fibre along wavelength, smooth
  double lamp_gradient = 0.01;   ///< of a lamp's light from edge to centre, where there are several
  double brightest_mag = 18, faintest_mag = 20;      ///< of targets, AB, mean of 5760-7620 Angstrom
  double brightest_star = 15.5, faintest_star = 17;  ///< of standard stars
  double ebv = 0.02;                                 ///< of the dust before standard stars
  ClassMix mix{.galaxy = 60, .qso = 25, .star = 15, .sky = 0};  ///< of targets
};

enum class Sees { kSky, kStandardStar, kTarget };

/// What fibre `fiber` of a spectrograph sees: of 8 fibres one the sky, of 12 one a standard star.
[[nodiscard]] Sees seen_by(std::size_t fiber) noexcept;

struct FieldTarget {
  Sees sees = Sees::kSky;
  TrueTarget truth;        ///< of standard stars: STAR, z, mag_r
  std::size_t source = 0;  ///< of a target: its template, by number
  StarNode star;           ///< of a standard star
};

/// The fibres of one spectrograph in one tile. A target depends on seed, tile, spectrograph and
/// fibre alone. Throws kUsage where there is no template of a class that is wanted.
[[nodiscard]] std::vector<FieldTarget> draw_field(const redshift::TemplateSet& templates,
                                                  const NightOptions& options, int tile,
                                                  int spectrograph);

/// Flux of each above the atmosphere, 1e-17 erg/(s cm2 Angstrom), [targets][wave]; of standard
/// stars before dust. Nothing of sky fibres.
[[nodiscard]] Array2D<double> field_flux(const std::vector<FieldTarget>& targets,
                                         const redshift::TemplateSet& templates,
                                         const std::vector<double>& wave, Executor& executor);

/// Share of the light that each fibre passes, [nspec][wave]; the median fibre 1 at each wavelength.
[[nodiscard]] Array2D<double> fiber_throughput(const NightOptions& options, char band,
                                               int spectrograph, const std::vector<double>& wave);

/// One exposure of a field: what differs from the next.
struct Conditions {
  double airmass = 1, transparency = 1, sky = 1;  ///< sky: against the dark sky
};
[[nodiscard]] Conditions conditions(const NightOptions& options, std::int64_t expid);

/// Electrons in a bin of a flux of 1 above the atmosphere, before R: its bands of narrow lines
/// absorb.
[[nodiscard]] std::vector<double> electrons_of_flux(const NightOptions& options, char band,
                                                    const BinGrid& grid, const Conditions& c);

/// Electrons in a bin of lamp `lamp` of `lamps`: a continuum of up to 1e4 in 0.8 Angstrom, with a
/// few faint lines, where the fibre's light is 1.
[[nodiscard]] std::vector<double> lamp_electrons(char band, const BinGrid& grid);
/// A lamp's light at a place of the focal plane (units of its radius); the mean over lamps is 1.
[[nodiscard]] double lamp_at(const NightOptions& options, int lamp, int lamps, double x, double y);

/// Lines of an arc lamp alone.
[[nodiscard]] std::vector<double> arc_electrons(const BinGrid& grid);

}  // namespace fiberloom::truth
