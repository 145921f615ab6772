// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/mapping/symmetric3.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace skyloom {
namespace {

constexpr int kSweeps = 12;  // quadratic convergence: five or six do

/// Turns rows and columns p and q so that a[p][q] vanishes; v collects the turns.
void turn(double (&a)[3][3], double (&v)[3][3], int p, int q) {
  const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
  const double t = (theta < 0 ? -1 : 1) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
  const double c = 1 / std::sqrt(t * t + 1), s = t * c;
  for (auto& row : a) {
    const double x = row[p], y = row[q];
    row[p] = c * x - s * y;
    row[q] = s * x + c * y;
  }
  for (int k = 0; k < 3; ++k) {
    const double x = a[p][k], y = a[q][k];
    a[p][k] = c * x - s * y;
    a[q][k] = s * x + c * y;
    const double vx = v[k][p], vy = v[k][q];
    v[k][p] = c * vx - s * vy;
    v[k][q] = s * vx + c * vy;
  }
  a[p][q] = a[q][p] = 0;
}

}  // namespace

Conditioned invert(const Symmetric3& m, double least) noexcept {
  double a[3][3] = {{m.ii, m.iq, m.iu}, {m.iq, m.qq, m.qu}, {m.iu, m.qu, m.uu}};
  double v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool done = true;
    for (const auto& [p, q] : {std::pair(0, 1), std::pair(0, 2), std::pair(1, 2)}) {
      if (std::fabs(a[p][q]) <= 1e-18 * (std::fabs(a[p][p]) + std::fabs(a[q][q]))) continue;
      turn(a, v, p, q);
      done = false;
    }
    if (done) break;
  }
  const double largest = std::max({a[0][0], a[1][1], a[2][2]});
  const double smallest = std::min({a[0][0], a[1][1], a[2][2]});
  Conditioned out;
  if (!(largest > 0)) return out;
  out.reciprocal = std::max(smallest, 0.0) / largest;
  if (!(out.reciprocal >= least) || !(smallest > 0)) return out;
  const auto element = [&](int r, int c) {
    return v[r][0] * v[c][0] / a[0][0] + v[r][1] * v[c][1] / a[1][1] + v[r][2] * v[c][2] / a[2][2];
  };
  out.inverse = {element(0, 0), element(0, 1), element(0, 2),
                 element(1, 1), element(1, 2), element(2, 2)};
  return out;
}

}  // namespace skyloom
