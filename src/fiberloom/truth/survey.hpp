// SPDX-License-Identifier: BSD-3-Clause
// Targets whose type and redshift are known, as a spectrograph sees them: what redshift fits are
// judged by. Arrays in, arrays out.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fiberloom/redshift/template.hpp"
#include "fiberloom/spectrum/spectra.hpp"
#include "fiberloom/truth/spectrograph.hpp"
#include "loom/base/executor.hpp"

namespace fiberloom::truth {

/// How many of a hundred targets are what; a class without a source goes to those that have one.
struct ClassMix {
  double galaxy = 50, qso = 20, star = 20, sky = 10;
};

struct SurveyOptions {
  std::uint64_t seed = 1;
  ClassMix mix;
  double least_snr = 0.5, most_snr = 20;  ///< median over pixels, even in log
  double exptime_s = 1800;
  /// Redshifts are even in log(1 + z) between these, and where the template reaches.
  double galaxy_z_low = 0.01, galaxy_z_high = 1.6, qso_z_low = 0.1, qso_z_high = 4.5;
  double star_kms = 100;         ///< width of the stars' velocities
  double sky_residual = 0.01;    ///< what sky subtraction leaves, rms: part of the sky ...
  double sky_continuum = 1;      ///< share of that part that the sky's continuum has too
  double sky_shift_aa = 0.01;    ///< ... and shift of its lines
  double bad_pixels = 0.002;     ///< share of pixels with ivar 0 and a mask bit
  double hot_pixels = 0.2;       ///< unflagged spikes a target, of 8 to 80 sigma
  double missing_camera = 0.01;  ///< targets that lack one
};

/// No residuals, no defects: noise alone.
[[nodiscard]] SurveyOptions without_defects(SurveyOptions options);

struct TrueTarget {
  std::int64_t id = 0;
  int fiber = 0;
  std::string spectype, subtype;  ///< "GALAXY", "QSO", "STAR", "SKY"
  std::string source;             ///< the file, or the version of a built-in template
  double z = 0;
  double snr = 0;       ///< median over good pixels of flux / sigma without noise
  double mag_r = 0;     ///< AB, 5700-7500 Angstrom; 99 where there is no light
  std::string missing;  ///< the camera that is not there, or empty
  std::vector<double> coefficients;
};

struct Survey {
  std::vector<TrueTarget> targets;
  std::vector<Spectra> cameras;  ///< of the spectrograph, in its order
};

/// What light may come from: rows of templates' training coefficients (where a template has none:
/// its first vector, the others varied by `untrained_spread` of its rms), and whole archetypes.
struct Sources {
  const redshift::TemplateSet* templates = nullptr;
  std::span<const redshift::Archetypes> archetypes = {};
  double untrained_spread = 0.2;
};

/// Targets [first, first + count) of the survey of this seed, units 1e-17 erg/(s cm2 Angstrom).
/// A target depends on its number alone, never on who is drawn beside it or on the executor.
/// Throws kUsage: nothing to draw from, options without sense.
[[nodiscard]] Survey simulate_survey(const Spectrograph& spectrograph, const Sources& sources,
                                     const SurveyOptions& options, std::size_t first,
                                     std::size_t count, Executor& executor);

}  // namespace fiberloom::truth
