// SPDX-License-Identifier: BSD-3-Clause
// Line positions from molecular constants, in 1/cm. OH: effective Hamiltonian (N^2 form) of a 2Pi
// state with the constants of Brooke et al. 2016 (JQSRT 168, 142), rounded; positions agree with
// measured ones to 0.02 Angstrom. O2: constants of b 1Sigma+ (v=0) and X 3Sigma- (v=1).
#include <array>
#include <cmath>
#include <cstdio>

#include "fiberloom/simulate/sky_lines.hpp"

namespace fiberloom {
namespace {

constexpr double kBoltzmann = 0.6950348;  // 1/cm per kelvin
constexpr double kOhTemperature = 195.0;  // of the mesopause
constexpr double kO2Temperature = 185.0;

struct OhLevel {
  double origin, b, d, h, a, gamma;
};
constexpr std::array<OhLevel, 10> kOhLevels{{
    {0.0000, 18.534873, 1.908935e-03, 1.4266e-07, -139.05088, -0.11925},
    {3570.3524, 17.823920, 1.870447e-03, 1.3774e-07, -139.32031, -0.11375},
    {6975.0935, 17.122480, 1.835828e-03, 1.3187e-07, -139.58940, -0.10769},
    {10216.1478, 16.427914, 1.805989e-03, 1.2447e-07, -139.84424, -0.10250},
    {13294.6144, 15.737018, 1.782667e-03, 1.1630e-07, -140.08321, -0.09664},
    {16210.5997, 15.045630, 1.766404e-03, 9.9560e-08, -140.28930, -0.09035},
    {18962.9921, 14.348665, 1.761588e-03, 8.4253e-08, -140.43957, -0.08390},
    {21549.1777, 13.639345, 1.770731e-03, 6.0127e-08, -140.50406, -0.07593},
    {23964.6390, 12.908875, 1.800170e-03, 3.2143e-08, -140.42961, -0.06744},
    {26202.4452, 12.145349, 1.857818e-03, -1.1100e-08, -140.14089, -0.05558},
}};

/// A band and the strength of its line Q1(1.5), from atlases of the sky, by eye.
struct OhBand {
  int upper, lower;
  double strength;
};
constexpr std::array<OhBand, 26> kOhBands{{
    {9, 0, 0.015}, {8, 0, 0.03}, {7, 0, 0.08}, {6, 0, 0.3}, {5, 0, 1.4}, {4, 0, 11},  {3, 0, 165},
    {9, 1, 0.10},  {8, 1, 0.3},  {7, 1, 0.9},  {6, 1, 5},   {5, 1, 28},  {4, 1, 200}, {9, 2, 1.0},
    {8, 2, 4},     {7, 2, 8},    {6, 2, 44},   {9, 3, 5},   {8, 3, 20},  {7, 3, 64},  {9, 4, 20},
    {8, 4, 90},    {9, 5, 90},   {5, 2, 150},  {6, 3, 150}, {7, 4, 150},
}};

/// Term value of a level. spin 1: the lower component F1 (Omega = 3/2), 2: the upper one.
double oh_term(const OhLevel& v, double j, int spin) {
  const double z = (j + 0.5) * (j + 0.5) - 1.0, s = std::sqrt(std::max(z, 0.0));
  // N^2 in the basis (Omega = 1/2, 3/2), and its powers.
  const double n11 = z + 2, n12 = -s, n22 = z;
  const double q11 = n11 * n11 + n12 * n12, q12 = n12 * (n11 + n22), q22 = n12 * n12 + n22 * n22;
  const double c11 = q11 * n11 + q12 * n12, c12 = q11 * n12 + q12 * n22,
               c22 = q12 * n12 + q22 * n22;
  const double ns = j * (j + 1) - 0.75;  // 2 N.S = J(J+1) - N^2 - S(S+1)
  const double h11 = v.b * n11 - v.d * q11 + v.h * c11 - 0.5 * v.a + 0.5 * v.gamma * (ns - n11);
  const double h22 = v.b * n22 - v.d * q22 + v.h * c22 + 0.5 * v.a + 0.5 * v.gamma * (ns - n22);
  const double h12 = v.b * n12 - v.d * q12 + v.h * c12 - 0.5 * v.gamma * n12;
  if (j < 1) return v.origin + h11;
  const double mean = 0.5 * (h11 + h22), half = std::hypot(0.5 * (h11 - h22), h12);
  return v.origin + mean + (spin == 1 ? -half : half);
}

/// Honl-London factor of Hund's case (a), delta = J' - J''.
double honl_london(double j_upper, double omega, int delta) {
  const double o2 = omega * omega;
  if (delta == 0) return (2 * j_upper + 1) * o2 / (j_upper * (j_upper + 1));
  const double j = delta < 0 ? j_upper + 1 : j_upper;
  return (j * j - o2) / j;
}

double o2_ground_term(int n, int component) {
  constexpr double b = 1.421884, d = 4.864e-6, lambda = 1.989578, gamma = -0.008446;
  constexpr double v1 = 1556.386;
  const double nn = n * (n + 1.0), r = v1 + b * nn - d * nn * nn;
  const auto root = [&](double m) {
    return std::sqrt(m * m * b * b + lambda * lambda - 2 * lambda * b);
  };
  if (component == 1) return r + (2 * n + 3) * b - lambda - root(2 * n + 3) + gamma * (n + 1);
  if (component == 3) return r - (2 * n - 1) * b - lambda + root(2 * n - 1) - gamma * n;
  return r;
}

}  // namespace

std::vector<SkyLine> oh_lines(double weakest) {
  std::vector<SkyLine> lines;
  for (const OhBand& band : kOhBands) {
    const OhLevel& upper = kOhLevels[static_cast<std::size_t>(band.upper)];
    const OhLevel& lower = kOhLevels[static_cast<std::size_t>(band.lower)];
    const double ground = oh_term(upper, 1.5, 1), unit = honl_london(1.5, 1.5, 0);
    for (int spin = 1; spin <= 2; ++spin) {
      const double omega = spin == 1 ? 1.5 : 0.5;
      for (double j = omega; j < 12; j += 1) {
        const double term = oh_term(upper, j, spin);
        const double population = std::exp(-(term - ground) / (kBoltzmann * kOhTemperature));
        for (const int delta : {-1, 0, 1}) {
          const double j_lower = j - delta;
          if (j_lower < omega) continue;
          const double strength = band.strength * population * honl_london(j, omega, delta) / unit;
          if (strength < weakest) continue;
          char name[32];
          std::snprintf(name, sizeof name, "OH %d-%d %c%d(%.1f)", band.upper, band.lower,
                        "PQR"[delta + 1], spin, j_lower);
          lines.push_back({1e8 / (term - oh_term(lower, j_lower, spin)), strength, name});
        }
      }
    }
  }
  return lines;
}

std::vector<SkyLine> o2_lines(double weakest) {
  constexpr double origin = 13120.909, b = 1.391249, d = 5.369e-6;
  constexpr double strongest = 12;
  std::vector<SkyLine> lines;
  for (int n = 1; n < 34; n += 2) {
    for (int component = 1; component <= 3; ++component) {
      const int j_lower = n + 2 - component;
      for (const int j : {n - 1, n + 1}) {
        if (std::abs(j - j_lower) > 1 || j_lower < 1) continue;
        const double jj = j * (j + 1.0), term = b * jj - d * jj * jj;
        const double strength =
            strongest * (2 * j + 1) / 10.0 * std::exp(-term / (kBoltzmann * kO2Temperature));
        if (strength < weakest) continue;
        char name[32];
        std::snprintf(name, sizeof name, "O2 b-X 0-1 %c%c%d", j < n ? 'P' : 'R',
                      "PQR"[j - j_lower + 1], n);
        lines.push_back({1e8 / (origin + term - o2_ground_term(n, component)), strength, name});
      }
    }
  }
  return lines;
}

}  // namespace fiberloom
