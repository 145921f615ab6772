// SPDX-License-Identifier: BSD-3-Clause
// What the fibres point at. Must not know of cameras or exposures: the same targets are seen by
// all.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace fiberloom {

enum class TargetClass { kSky, kStandardStar, kElg, kLrg, kBgs };

/// "SKY", "STAR", "ELG", "LRG", "BGS".
[[nodiscard]] std::string_view target_class_name(TargetClass c) noexcept;

struct Target {
  std::int64_t targetid = 0;  ///< unique for spectrograph, fibre and seed; negative for sky
  int fiber = 0;              ///< 500 * spectrograph + fibre of the PSF
  TargetClass kind = TargetClass::kSky;
  double redshift = 0;
  double ra_deg = 0, dec_deg = 0;
  double brightness = 0;      ///< continuum at 6500 Angstrom, electrons/Angstrom in 900 s
  double temperature_k = 0;   ///< of a star
  double line_strength = 0;   ///< of the strongest emission line, electrons in 900 s
  double dispersion_kms = 0;  ///< velocity dispersion of the lines
  double fiber_x_mm = 0, fiber_y_mm = 0;  ///< in the focal plane
  double delta_x_mm = 0, delta_y_mm = 0;  ///< target minus fibre, as positioners leave it
  double fiber_ra_deg = 0, fiber_dec_deg = 0;
  std::int64_t desi_target = 0;  ///< targeting bits: LRG 0, ELG 1, SKY 32, STD_FAINT 33, BGS_ANY 60
};

/// One target a fibre: of every 25, two sky fibres, every second time a standard star, and galaxies
/// of three classes (500 fibres: 40 sky, 10 standards). Throws kUsage for a negative count.
[[nodiscard]] std::vector<Target> make_targets(int nfiber, int spectrograph, std::uint64_t seed);

}  // namespace fiberloom
