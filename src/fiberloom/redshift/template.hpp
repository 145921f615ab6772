// SPDX-License-Identifier: BSD-3-Clause
// What is fitted to spectra: a basis of rest-frame vectors with the redshifts at which it is tried,
// and archetypes, which are whole spectra. Knows no files.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "loom/base/array.hpp"

namespace fiberloom::redshift {

/// How coefficients may be: free, or none below zero.
enum class Method { kPca, kNmf };
/// Absorption by the hydrogen between a source and us (igm.hpp).
enum class Igm { kNone, kCalura12, kKamble20, kInoue14 };

[[nodiscard]] std::string_view name_of(Method method) noexcept;
[[nodiscard]] std::string_view name_of(Igm igm) noexcept;

inline constexpr double kLightKms = 299792.458;

/// The velocity between two redshifts as seen at `reference`, km/s.
[[nodiscard]] inline double velocity_kms(double z, double reference) noexcept {
  return kLightKms * (z - reference) / (1.0 + reference);
}

/// Flux density linear between the wavelengths. `wave` increases and has at least two elements.
struct Template {
  std::string spectype, subtype;  ///< "GALAXY", "QSO", "STAR" ...; "HIZ", "A" ... or empty
  std::string version = "unknown";
  std::string file, hash;  ///< name without its folder, SHA-256; empty where it is no file
  Method method = Method::kPca;
  Igm igm = Igm::kNone;
  std::vector<double> wave;       ///< Angstrom, rest frame
  Array2D<double> flux;           ///< [nbasis][nwave]
  std::vector<double> redshifts;  ///< increasing: the coarse scan
  Array2D<double> training;       ///< [n][nbasis] coefficients of real objects; may be empty

  [[nodiscard]] std::size_t nbasis() const noexcept { return flux.rows(); }
  /// "GALAXY", "QSO:::HIZ": the name of the class in files.
  [[nodiscard]] std::string full_type() const {
    return subtype.empty() ? spectype : spectype + ":::" + subtype;
  }
  /// Minima nearer than this are one, km/s.
  [[nodiscard]] double least_separation_kms() const noexcept {
    return spectype == "STAR" ? 100.0 : 1000.0;
  }
};

/// Templates in the order in which they were asked for; at least one.
using TemplateSet = std::vector<Template>;

/// Whole spectra of one spectral type, all on one wavelength grid.
struct Archetypes {
  std::string spectype, version = "unknown", file, hash;
  std::vector<double> wave;           ///< Angstrom, rest frame
  Array2D<double> flux;               ///< [narchetype][nwave]
  std::vector<std::string> subtypes;  ///< with the number in the file: "ELG_12"
  Igm igm = Igm::kInoue14;            ///< files do not say; the peer takes this one for all
};

}  // namespace fiberloom::redshift
