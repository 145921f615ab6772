// SPDX-License-Identifier: BSD-3-Clause
// When wavelengths of two files are the same: the rule for frames, calibrations, coadds, redshifts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace fiberloom {

/// Angstrom. Files may keep wavelengths in single precision, as desispec's frames do, which errs by
/// up to half of it.
inline constexpr double kSameWaveAa = 1e-3;

[[nodiscard]] inline bool same_wave(double a, double b) noexcept {
  return std::abs(a - b) <= kSameWaveAa;  // NaN is no wavelength
}

/// The first bin whose wavelengths differ, or the shorter length where none does.
[[nodiscard]] inline std::size_t first_other_bin(std::span<const double> a,
                                                 std::span<const double> b) noexcept {
  const std::size_t n = std::min(a.size(), b.size());
  std::size_t i = 0;
  while (i < n && same_wave(a[i], b[i])) ++i;
  return i;
}

/// Are the two one grid?
[[nodiscard]] inline bool same_grid(std::span<const double> a, std::span<const double> b) noexcept {
  return a.size() == b.size() && first_other_bin(a, b) == a.size();
}

}  // namespace fiberloom
