// SPDX-License-Identifier: BSD-3-Clause
// How fast a telescope moves toward a direction: the barycentric correction of wavelengths. Numbers
// in, numbers out; knows no file, no header, no spectrum.
#pragma once

namespace fiberloom::astro {

/// A place on the Earth (WGS 84).
struct Site {
  double latitude_deg = 0, longitude_deg = 0;  ///< longitude counted eastward
  double height_m = 0;
};

/// Kitt Peak as desispec has it.
inline constexpr Site kKittPeak{31.96403, -111.59989, 2097.0};

/// From the beginning of UTC to the end of what the ephemeris was fitted to: 1960 to 2100.
inline constexpr double kFirstMjd = 36934.0, kLastMjd = 88069.0;

struct Direction {
  double ra_deg = 0, dec_deg = 0;  ///< ICRS
};

/// What must be added to a radial velocity measured at the site, m/s: v = c (f - 1), where f is the
/// factor that takes an observed wavelength to the barycentre of the solar system. With the Earth's
/// orbit and rotation, precession, time dilation and the redshift by Sun and Earth (Wright &
/// Eastman 2014, eq. 28, for a star at rest and far away). `mjd_utc`: [kFirstMjd, kLastMjd];
/// beyond, the ephemeris drifts. Within 0.03 m/s of astropy (docs/fiberloom/science.md): UT1 = UTC
/// and no polar motion. Leap seconds are those that ERFA knows; each that it does not is 6 mm/s.
/// Throws kInternal for a time that no calendar holds. Cost: 0.1 ms (ephemeris and nutation in
/// full).
[[nodiscard]] double barycentric_velocity_m_s(const Site& site, const Direction& toward,
                                              double mjd_utc);

/// f = 1 + v/c, rounded to 1e-13 (0.03 mm/s) so that the last bit of a library's sine does not
/// show.
[[nodiscard]] double barycentric_factor(const Site& site, const Direction& toward, double mjd_utc);

/// f as a velocity again, km/s.
[[nodiscard]] double factor_velocity_km_s(double factor);

}  // namespace fiberloom::astro
