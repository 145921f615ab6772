// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/sky/dipole.hpp"

#include <cmath>

namespace skyloom {
namespace {

double product(const Direction& a, const Direction& b) noexcept {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

}  // namespace

Direction added_velocity(const Direction& first, const Direction& second) noexcept {
  constexpr double kSquare = kLightKmS * kLightKmS;
  const double own = product(first, first);
  if (own == 0) return second;
  const double along = product(second, first) / own, across = std::sqrt(1 - own / kSquare);
  const double scale = 1 / (1 + product(first, second) / kSquare);
  const auto part = [&](double f, double s) {
    return scale * (f + along * f + across * (s - along * f));
  };
  return {part(first.x, second.x), part(first.y, second.y), part(first.z, second.z)};
}

double dipole_kelvin(const Direction& look, const Direction& velocity_km_s) noexcept {
  const double square = product(velocity_km_s, velocity_km_s) / (kLightKmS * kLightKmS);
  const double toward = product(velocity_km_s, look) / kLightKmS;
  return kBackgroundKelvin * (std::sqrt(1 - square) / (1 - toward) - 1);
}

}  // namespace skyloom
