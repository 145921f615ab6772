// SPDX-License-Identifier: BSD-3-Clause
// Units of temperatures in files.
#pragma once

#include <optional>
#include <string_view>

#include "skyloom/foundation.hpp"

namespace skyloom {

/// What "K", "mK" or "uK" is in K, also with the kind of temperature behind it ("uK_CMB",
/// "mK,thermodynamic"); nullopt: another unit, or one of Rayleigh and Jeans' temperature ("uK_RJ",
/// as PySM writes), which is another number for the same sky.
[[nodiscard]] constexpr std::optional<double> kelvin_of(std::string_view unit) noexcept {
  constexpr struct {
    std::string_view name;
    double kelvin;
  } kUnits[] = {{"K", 1}, {"mK", 1e-3}, {"uK", 1e-6}, {"muK", 1e-6}, {"microK", 1e-6}};
  for (const auto& known : kUnits) {
    if (!unit.starts_with(known.name)) continue;
    const std::string_view kind = unit.substr(known.name.size());
    const bool plain = kind.empty() || kind == "CMB" || kind == "cmb";
    if (kind.find("RJ") != std::string_view::npos) return std::nullopt;
    if (plain || kind.front() == '_' || kind.front() == ',') return known.kelvin;
  }
  return std::nullopt;
}

}  // namespace skyloom
