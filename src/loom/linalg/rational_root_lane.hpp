// SPDX-License-Identifier: BSD-3-Clause
// Poles and weights of S^(1/2) = S sum_k c_k (S + t_k)^-1 on a spectrum in [low, high]
// (Hale, Higham & Trefethen 2008, method 3; quadrature on the complex ellipse map): Jacobi elliptic
// functions by descending Landen transformation, then the quadrature nodes. For the host and for
// kernels.
#pragma once

#include <cmath>

#include "loom/base/scalar_lane.hpp"

namespace loom {

inline constexpr int kMostPoles = 40;

struct RootPole {
  double t, c;  ///< both above 0
};

namespace lane {

inline constexpr double kPi = 3.14159265358979323846;

/// Complete elliptic integral K(m) from the complementary parameter m1 = 1 - m (exact for m near
/// 1).
FL_LANE_HD inline double elliptic_k(double m1) {
  double a = 1.0, b = ::sqrt(m1);
  constexpr int kMostSteps = 64;  // the digits double with each; a handful is usual
  FL_NO_UNROLL
  for (int step = 0; step<kMostSteps&& ::fabs(a - b)> 1e-15 * a; ++step) {
    const double mean = 0.5 * (a + b);
    b = ::sqrt(a * b);
    a = mean;
  }
  return kPi / (a + b);
}

struct Jacobi {
  double sn, cn, dn;
};

/// What Landen's transformation makes of a complementary parameter m1 = 1 - m, 0 < m1 <= 1.
struct Landen {
  FL_LANE_HD explicit Landen(double m1) {
    double mean = 1.0, geometric = ::sqrt(m1);
    FL_NO_UNROLL
    for (int i = 0; i < 16; ++i) {
      last = i;
      a[i] = mean;
      g[i] = geometric;
      end = 0.5 * (mean + geometric);
      if (::fabs(mean - geometric) <= 1e-15 * mean) break;
      geometric = ::sqrt(geometric * mean);
      mean = end;
    }
  }
  double a[16], g[16], end = 0;
  int last = 0;
};

/// sn, cn, dn at u.
FL_LANE_HD inline Jacobi jacobi(double u, const Landen& steps) {
  double c = steps.end, d = 1.0;
  u *= c;
  double sn = ::sin(u), cn = ::cos(u);
  if (sn != 0.0) {
    double ratio = cn / sn;
    c *= ratio;
    FL_NO_UNROLL
    for (int i = steps.last; i >= 0; --i) {
      const double b = steps.a[i];
      ratio *= c;
      c *= d;
      d = (steps.g[i] + ratio) / (b + ratio);
      ratio = c / b;
    }
    const double norm = 1.0 / ::sqrt(c * c + 1.0);
    sn = sn >= 0 ? norm : -norm;
    cn = c * sn;
  }
  return {sn, cn, d};
}

/// What the error depends on, of kappa.
FL_LANE_HD inline double nome_ratio(double kappa) {
  return elliptic_k(1.0 - 1.0 / kappa) / elliptic_k(1.0 / kappa);
}
/// Relative error of the K-pole approximation, equioscillating over [low, high]: measured equal to
/// this to a few per cent wherever it is above rounding. For large kappa it is the familiar 4
/// exp(-2 pi^2 K / (ln kappa + 2.77)).
FL_LANE_HD inline double approximation_error(double ratio, int poles) {
  const double first = 4.0 * ::exp(-2.0 * kPi * poles * ratio);
  return first * (1.0 + first);  // the second order shows for a handful of poles only
}

}  // namespace lane

/// Number of poles from the fixed ladder 4, 6, 8 ... kMostPoles whose relative error over a
/// condition number kappa > 1 is at most `tolerance`.
FL_LANE_HD inline int pole_count(double kappa, double tolerance) {
  int poles = 4;
  const double ratio = lane::nome_ratio(kappa);
  FL_NO_UNROLL
  while (poles < kMostPoles && lane::approximation_error(ratio, poles) > tolerance) poles += 2;
  return poles;
}

/// Bound on the relative error of sqrt.
FL_LANE_HD inline double root_error(double kappa, int poles) {
  return lane::approximation_error(lane::nome_ratio(kappa), poles);
}

/// The poles for [low, high], 0 < low < high.
class RootNodes {
 public:
  FL_LANE_HD RootNodes(double low, double high, int poles)
      : low_(low), quarter_(lane::elliptic_k(low / high)), poles_(poles), steps_(low / high) {}
  FL_LANE_HD RootPole operator[](int i) const {
    const lane::Jacobi f = lane::jacobi((i + 0.5) * quarter_ / poles_, steps_);
    const double inverse_cn2 = 1.0 / (f.cn * f.cn);
    return {low_ * f.sn * f.sn * inverse_cn2,
            2.0 * quarter_ * ::sqrt(low_) / (lane::kPi * poles_) * f.dn * inverse_cn2};
  }

 private:
  double low_, quarter_;
  int poles_;
  lane::Landen steps_;
};

}  // namespace loom
