// SPDX-License-Identifier: BSD-3-Clause
// Jacobi elliptic functions by descending Landen transformation, then the quadrature nodes.
#include "loom/linalg/rational_root.hpp"

#include <array>
#include <cmath>
#include <numbers>

namespace loom {

namespace {

/// Complete elliptic integral K(m) from the complementary parameter m1 = 1 - m (exact for m near
/// 1).
double elliptic_k(double m1) {
  double a = 1.0, b = std::sqrt(m1);
  constexpr int kMostSteps = 64;  // the digits double with each; a handful is usual
  for (int step = 0; step < kMostSteps && std::abs(a - b) > 1e-15 * a; ++step) {
    const double mean = 0.5 * (a + b);
    b = std::sqrt(a * b);
    a = mean;
  }
  return std::numbers::pi / (a + b);
}

struct Jacobi {
  double sn, cn, dn;
};

/// sn, cn, dn at u for the complementary parameter m1 = 1 - m, 0 < m1 <= 1.
Jacobi jacobi(double u, double m1) {
  std::array<double, 16> a{}, g{};
  double mean = 1.0, geometric = std::sqrt(m1), c = 0, d = 1.0;
  int last = 0;
  for (int i = 0; i < 16; ++i) {
    last = i;
    a[static_cast<std::size_t>(i)] = mean;
    g[static_cast<std::size_t>(i)] = geometric;
    c = 0.5 * (mean + geometric);
    if (std::abs(mean - geometric) <= 1e-15 * mean) break;
    geometric = std::sqrt(geometric * mean);
    mean = c;
  }
  u *= c;
  double sn = std::sin(u), cn = std::cos(u);
  if (sn != 0.0) {
    double ratio = cn / sn;
    c *= ratio;
    for (int i = last; i >= 0; --i) {
      const double b = a[static_cast<std::size_t>(i)];
      ratio *= c;
      c *= d;
      d = (g[static_cast<std::size_t>(i)] + ratio) / (b + ratio);
      ratio = c / b;
    }
    const double norm = 1.0 / std::sqrt(c * c + 1.0);
    sn = sn >= 0 ? norm : -norm;
    cn = c * sn;
  }
  return {sn, cn, d};
}

/// Relative error of the K-pole approximation, equioscillating over [low, high]: measured equal to
/// this to a few per cent wherever it is above rounding. For large kappa it is the familiar 4
/// exp(-2 pi^2 K / (ln kappa + 2.77)).
double approximation_error(double kappa, int poles) {
  const double ratio = elliptic_k(1.0 - 1.0 / kappa) / elliptic_k(1.0 / kappa);
  const double first = 4.0 * std::exp(-2.0 * std::numbers::pi * poles * ratio);
  return first * (1.0 + first);  // the second order shows for a handful of poles only
}

}  // namespace

int pole_count(double kappa, double tolerance) {
  int poles = 4;
  while (poles < kMostPoles && approximation_error(kappa, poles) > tolerance) poles += 2;
  return poles;
}

RationalRoot rational_root(double low, double high, int poles) {
  RationalRoot root;
  const double k2 = low / high;  // complementary parameter
  const double quarter = elliptic_k(k2);
  for (int i = 0; i < poles; ++i) {
    const Jacobi f = jacobi((i + 0.5) * quarter / poles, k2);
    const double inverse_cn2 = 1.0 / (f.cn * f.cn);
    root.t.push_back(low * f.sn * f.sn * inverse_cn2);
    root.c.push_back(2.0 * quarter * std::sqrt(low) / (std::numbers::pi * poles) * f.dn *
                     inverse_cn2);
  }
  root.error = approximation_error(high / low, poles);
  return root;
}

}  // namespace loom
