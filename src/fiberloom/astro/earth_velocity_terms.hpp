// SPDX-License-Identifier: BSD-3-Clause
// The Earth's velocity about the barycentre of the solar system as a series: what a term is.
// bench/barycentric/fit_series.py makes the numbers.
#pragma once

namespace fiberloom::astro {

inline constexpr int kArgumentCount = 11;

/// T^power (cosine cos(a) + sine sin(a)), m/s along the axes of the ICRS; a = multiple . arguments,
/// T in Julian centuries (TDB) from J2000.
struct VelocityTerm {
  signed char multiple[kArgumentCount];
  int power;
  double cosine[3], sine[3];
};

/// Mean longitudes of Venus to Neptune, the Moon's mean longitude, elongation, anomaly and argument
/// of latitude: value at J2000 and rate a century, radians.
extern const double kArguments[kArgumentCount][2];
extern const double kConstant[2][3];  ///< terms without an argument: 1, T
extern const VelocityTerm kTerms[];
extern const int kTermCount;

}  // namespace fiberloom::astro
