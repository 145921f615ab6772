// SPDX-License-Identifier: BSD-3-Clause
// Orbit from the series, rotation from the Earth's angle and figure, then one product.
#include "fiberloom/astro/barycentric.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include "fiberloom/astro/earth_velocity_terms.hpp"

namespace fiberloom::astro {
namespace {

using Vector = std::array<double, 3>;

constexpr double kLight = 299792458.0;  // m/s
constexpr double kRadian = std::numbers::pi / 180;
constexpr double kMjdOfJ2000 = 51544.5, kDaysOfCentury = 36525.0;
/// TT - UTC since 2017, days. A leap second more or less is 6 mm/s.
constexpr double kTerrestrialMinusUtc = 69.184 / 86400;

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

Vector orbital_velocity(double centuries) {
  double argument[kArgumentCount];
  for (int k = 0; k < kArgumentCount; ++k) {
    argument[k] = kArguments[k][0] + kArguments[k][1] * centuries;
  }
  Vector v;
  for (std::size_t i = 0; i < 3; ++i) v[i] = kConstant[0][i] + kConstant[1][i] * centuries;
  for (int t = 0; t < kTermCount; ++t) {
    const VelocityTerm& term = kTerms[t];
    double angle = 0;
    for (int k = 0; k < kArgumentCount; ++k) angle += term.multiple[k] * argument[k];
    const double scale = term.power == 0   ? 1.0
                         : term.power == 1 ? centuries
                                           : centuries * centuries;
    const double c = scale * std::cos(angle), s = scale * std::sin(angle);
    for (std::size_t i = 0; i < 3; ++i) v[i] += c * term.cosine[i] + s * term.sine[i];
  }
  return v;
}

/// Distance of the site from the Earth's axis, m.
double axis_distance(const Site& site) {
  constexpr double kEquator = 6378137.0, kFlattening = 1 / 298.257223563;  // WGS 84
  const double latitude = site.latitude_deg * kRadian, s = std::sin(latitude);
  const double e2 = kFlattening * (2 - kFlattening);
  return (kEquator / std::sqrt(1 - e2 * s * s) + site.height_m) * std::cos(latitude);
}

/// Velocity of the site about the Earth's centre. The pole of date in the ICRS comes from the
/// precession of the celestial intermediate pole (IAU 2006, leading terms).
Vector rotational_velocity(const Site& site, double mjd_utc, double centuries) {
  constexpr double kSecond = kRadian / 3600, kTurns = 1.00273781191135448, kPhase = 0.7790572732640;
  constexpr double kRate = 2 * std::numbers::pi * kTurns / 86400;
  const double days = mjd_utc - kMjdOfJ2000;
  const double turns = kPhase + std::fmod(days, 1.0) + (kTurns - 1) * days;
  const double angle = 2 * std::numbers::pi * turns + site.longitude_deg * kRadian;
  const double speed = kRate * axis_distance(site);
  const double east[2] = {-speed * std::sin(angle), speed * std::cos(angle)};
  const double x = 2004.191898 * kSecond * centuries;
  const double y = -22.4072747 * kSecond * centuries * centuries;
  return {(1 - x * x / 2) * east[0] - x * y / 2 * east[1],
          -x * y / 2 * east[0] + (1 - y * y / 2) * east[1], -x * east[0] - y * east[1]};
}

/// Blue shift of light that falls into the wells of Sun and Earth, times c^2.
double potential(double centuries) {
  constexpr double kSun = 1.32712440e20, kEarth = 3.98600440e14;  // G M, m^3/s^2
  constexpr double kUnit = 149597870700.0, kRadius = 6.371e6;     // m
  const double anomaly = 6.24006 + 628.301955 * centuries;
  const double distance = kUnit * (1 - 0.0167 * std::cos(anomaly));
  return kSun / distance + kEarth / kRadius;
}

}  // namespace

double barycentric_velocity_m_s(const Site& site, const Direction& toward, double mjd_utc) {
  const double centuries = (mjd_utc + kTerrestrialMinusUtc - kMjdOfJ2000) / kDaysOfCentury;
  Vector v = orbital_velocity(centuries);
  const Vector spin = rotational_velocity(site, mjd_utc, centuries);
  for (std::size_t i = 0; i < 3; ++i) v[i] += spin[i];
  const double ra = toward.ra_deg * kRadian, dec = toward.dec_deg * kRadian;
  const Vector unit{std::cos(dec) * std::cos(ra), std::cos(dec) * std::sin(ra), std::sin(dec)};
  // gamma (1 + beta) / (1 - potential / c^2) - 1, in an order that keeps the small terms
  const double beta = dot(v, unit) / kLight;
  const double dilation = 0.5 * dot(v, v) / (kLight * kLight);
  const double fall = potential(centuries) / (kLight * kLight);
  return kLight * (beta + (dilation + fall) * (1 + beta));
}

double barycentric_factor(const Site& site, const Direction& toward, double mjd_utc) {
  const double shift = barycentric_velocity_m_s(site, toward, mjd_utc) / kLight;
  return 1 + std::round(shift * 1e13) * 1e-13;
}

double factor_velocity_km_s(double factor) { return (factor - 1) * kLight / 1000; }

}  // namespace fiberloom::astro
