// SPDX-License-Identifier: BSD-3-Clause
// A redshift that a target may have, and the order among several: the result of a fit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fiberloom/redshift/lines.hpp"
#include "fiberloom/redshift/target.hpp"
#include "fiberloom/redshift/template.hpp"

namespace fiberloom::redshift {

/// chi2 of a fit that cannot be made: the peer's number, exact in float32 too.
inline constexpr double kHugeChi2 = 9999999.0;

/// Bits of ZWARN, the peer's numbers. Sky, unplugged, bad target and poor data come from a
/// fibermap.
namespace zwarn {
inline constexpr std::uint32_t kSky = 1U << 0, kLittleCoverage = 1U << 1, kSmallDeltaChi2 = 1U << 2,
                               kNegativeModel = 1U << 3, kManyOutliers = 1U << 4,
                               kFitLimit = 1U << 5, kNegativeEmission = 1U << 6,
                               kUnplugged = 1U << 7, kBadTarget = 1U << 8, kNoData = 1U << 9,
                               kBadMinimum = 1U << 10, kPoorData = 1U << 11;
/// A fit with one of these comes after all others.
inline constexpr std::uint32_t kBadFit =
    kNegativeModel | kManyOutliers | kFitLimit | kNegativeEmission | kBadMinimum;
/// Names of bits 0 to 11, for people.
inline constexpr std::array<const char*, 12> kNames{
    "SKY",           "LITTLE_COVERAGE", "SMALL_DELTA_CHI2",  "NEGATIVE_MODEL",
    "MANY_OUTLIERS", "Z_FITLIMIT",      "NEGATIVE_EMISSION", "UNPLUGGED",
    "BAD_TARGET",    "NODATA",          "BAD_MINFIT",        "POORDATA"};
}  // namespace zwarn

struct Candidate {
  std::size_t curve = 0;  ///< which template: the index of its curve
  std::string spectype, subtype;
  std::string method;  ///< FITMETHOD: PCA, NMF, ARCH, NONE
  double z = 0, zerr = 0, chi2 = 0;
  double delta_chi2 = 0;  ///< to the next that is another redshift; 0 where none is
  std::uint32_t zwarn = 0;
  /// Where probabilities were asked for (probability.hpp), else all 0.
  double evidence = 0;     ///< log p(spectra | template, z), up to what the target adds to all
  double probability = 0;  ///< of this type within 1000 km/s (QSO 3000) of this redshift
  double class_probability = 0;               ///< of this type at any redshift
  double posterior_zerr = 0;                  ///< rms of the redshifts of that type within as much
  std::vector<LineFlux> lines;                ///< of the best candidate, where asked for
  std::uint32_t quality = 0;                  ///< users' cuts (lines.hpp) that it passes: likewise
  std::vector<double> coefficients;           ///< of vectors, or of archetypes
  std::vector<double> legendre;               ///< beside archetypes: camera after camera
  std::vector<double> template_coefficients;  ///< of the template that led to the archetype
  std::string template_subtype;               ///< likewise
  long good_pixels = 0;
  double least_separation_kms = 0;        ///< nearer ones are the same redshift
  std::vector<double> fine_z, fine_chi2;  ///< the last scan around it
};

enum class RankBy { kChi2, kProbability };

/// Sorts the candidates of one target: good fits first, then by chi2; keeps `most` of each spectral
/// type; sorts again by probability where that is asked for (DELTACHI2 may then be negative: the
/// best one is ambiguous then, and where it is less likely than not); sets NODATA, LITTLE_COVERAGE,
/// DELTACHI2 and SMALL_DELTA_CHI2. Candidates of equal chi2 stay in their order.
void rank(std::vector<Candidate>& candidates, std::size_t most, RankBy by = RankBy::kChi2);

/// Sets `quality` from the rest.
void set_quality(Candidate& candidate);

/// The one candidate of a target without a fit: z 0, kHugeChi2, NODATA where it has no good pixel,
/// else Z_FITLIMIT and BAD_MINFIT (a prior left no redshift).
[[nodiscard]] Candidate no_fit(const PreparedTarget& target, const Template& source);

/// Indices of local minima with both ends, lowest first; a plateau counts at every point. NaN is
/// no minimum.
[[nodiscard]] std::vector<std::size_t> find_minima(std::span<const double> values);

/// y = y0 + ((x - x0) / width)^2 through three points.
struct Parabola {
  double x0 = -1, width = -1, y0 = -1;
  bool good = false;  ///< opens upwards, with its minimum between the points and above zero
};
[[nodiscard]] Parabola parabola(std::span<const double, 3> x, std::span<const double, 3> y);

}  // namespace fiberloom::redshift
