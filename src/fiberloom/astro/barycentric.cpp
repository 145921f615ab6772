// SPDX-License-Identifier: BSD-3-Clause
// The observer's velocity and distance from the Sun by ERFA (the IAU's standards), then one
// product. The only user of ERFA.
#include "fiberloom/astro/barycentric.hpp"

#include <erfa.h>
#include <erfam.h>

#include <cmath>
#include <string>

#include "fiberloom/foundation.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::astro {
namespace {

constexpr double kLight = ERFA_CMPS;  // m/s

/// Where the site is and how it moves in the solar system (BCRS). UT1 = UTC, the pole where the
/// IERS's convention has it, no air.
eraASTROM observer(const Site& site, double mjd_utc) {
  constexpr double kUt1MinusUtc = 0, kPoleX = 0, kPoleY = 0, kPressure = 0;
  constexpr double kTemperature = 0, kHumidity = 0, kWavelength = 1;  // matter with air alone
  eraASTROM astrom;
  double equation_of_origins = 0;
  // +1, a "dubious year", is no fault: the leap seconds of that year were not known when ERFA was
  // made, and one more or less is 6 mm/s
  const int status =
      eraApco13(ERFA_DJM0, mjd_utc, kUt1MinusUtc, site.longitude_deg * ERFA_DD2R,
                site.latitude_deg * ERFA_DD2R, site.height_m, kPoleX, kPoleY, kPressure,
                kTemperature, kHumidity, kWavelength, &astrom, &equation_of_origins);
  if (status < 0) {
    throw Error(Status::kInternal, "ERFA takes no MJD " + std::to_string(mjd_utc));
  }
  return astrom;
}

}  // namespace

double barycentric_velocity_m_s(const Site& site, const Direction& toward, double mjd_utc) {
  eraASTROM at = observer(site, mjd_utc);
  double unit[3];
  eraS2c(toward.ra_deg * ERFA_DD2R, toward.dec_deg * ERFA_DD2R, unit);
  // G M / r c^2 of the Sun, and of the Earth at sea level
  const double fall = ERFA_SRS / (2 * at.em) + ERFA_ELG;
  return kLight * ((1 + eraPdp(at.v, unit)) / (at.bm1 * (1 - fall)) - 1);
}

double barycentric_factor(const Site& site, const Direction& toward, double mjd_utc) {
  const double shift = barycentric_velocity_m_s(site, toward, mjd_utc) / kLight;
  return 1 + std::round(shift * 1e13) * 1e-13;
}

double factor_velocity_km_s(double factor) { return (factor - 1) * kLight / 1000; }

}  // namespace fiberloom::astro
