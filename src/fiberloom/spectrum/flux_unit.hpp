// SPDX-License-Identifier: BSD-3-Clause
// What BUNIT of spectra says: light of the sky or what a detector counted, and in which powers of
// ten.
#pragma once

#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>

namespace fiberloom {

/// Light of the sky, as erg/(s cm2 Angstrom)?
[[nodiscard]] inline bool is_flux_unit(std::string_view unit) noexcept {
  return unit.find("erg") != std::string_view::npos;
}
/// What a detector counted?
[[nodiscard]] inline bool is_count_unit(std::string_view unit) noexcept {
  return unit.find("electron") != std::string_view::npos ||
         unit.find("count") != std::string_view::npos;
}

/// The number that a unit begins with, as programs write it: "10**-17 erg ...", "10^(-17) erg ...",
/// "1e-17 erg ..."; 1 where it begins with none.
[[nodiscard]] inline double scale_of_unit(std::string_view unit) noexcept {
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const std::string_view power : {"10**", "10^"}) {
    if (!unit.starts_with(power)) continue;
    unit.remove_prefix(power.size());
    if (unit.starts_with('(')) unit.remove_prefix(1);
    if (unit.starts_with('+')) unit.remove_prefix(1);
    int exponent = 0;
    std::from_chars(unit.data(), unit.data() + unit.size(), exponent);
    return std::pow(10.0, exponent);
  }
  double number = 1;
  const auto [end, error] = std::from_chars(unit.data(), unit.data() + unit.size(), number);
  return error == std::errc() && number > 0 ? number : 1;
}

/// Are numbers in the two the same light, as far as the powers of ten say?
[[nodiscard]] inline bool same_scale(std::string_view a, std::string_view b) noexcept {
  constexpr double kRounding = 1e-6;
  return std::abs(scale_of_unit(a) / scale_of_unit(b) - 1) < kRounding;
}

}  // namespace fiberloom
