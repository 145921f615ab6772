// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/simulate/phantom.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include "loom/base/error.hpp"

namespace tomoloom {
namespace {

constexpr double kDegree = std::numbers::pi / 180;

/// What is left of an ellipsoid at one height, in pixels.
struct Ellipse {
  double value, u, v, semi_u, semi_v, turn;
};

std::vector<Ellipse> cut(const Phantom& phantom, const Sight& sight, std::size_t row) {
  const double half = static_cast<double>(sight.columns) / 2;
  const double z = sight.height(row) / std::cos(sight.tilt);
  std::vector<Ellipse> out;
  for (const Ellipsoid& e : phantom) {
    const double h = (z - e.z) / e.semi_z;
    if (h * h >= 1) continue;
    const double shrink = half * std::sqrt(1 - h * h);
    out.push_back({e.value * sight.scale, e.u * half, e.v * half, e.semi_u * shrink,
                   e.semi_v * shrink, e.turn * kDegree});
  }
  return out;
}

/// Integral of sqrt(1 - t^2) from -1 to t.
double half_disc(double t) {
  if (t <= -1) return 0;
  if (t >= 1) return std::numbers::pi / 2;
  return (t * std::sqrt(1 - t * t) + std::asin(t) + std::numbers::pi / 2) / 2;
}

Phantom shepp_logan() {
  return {{1, 0, 0, 0, .69, .92, .81, 0},        {-.8, 0, -.0184, 0, .6624, .874, .78, 0},
          {-.2, .22, 0, 0, .11, .31, .22, -18},  {-.2, -.22, 0, 0, .16, .41, .28, 18},
          {.1, 0, .35, -.15, .21, .25, .41, 0},  {.1, 0, .1, .25, .046, .046, .05, 0},
          {.1, 0, -.1, .25, .046, .046, .05, 0}, {.1, -.08, -.605, 0, .046, .023, .05, 0},
          {.1, 0, -.606, 0, .023, .023, .02, 0}, {.1, .06, -.605, 0, .023, .046, .02, 0}};
}

/// Cylinders, as high as any detector.
constexpr double kHigh = 1e6;

Phantom discs() {
  Phantom out;
  for (const double away : {0.0, 0.25, 0.5, 0.75}) {
    const double angle = 0.3 + 4 * away;
    out.push_back({1, away * std::cos(angle), away * std::sin(angle), 0, .08, .08, kHigh, 0});
  }
  return out;
}

}  // namespace

const std::vector<std::string>& phantom_names() {
  static const std::vector<std::string> names{"shepp-logan", "disc", "discs", "ball"};
  return names;
}

Phantom phantom(const std::string& name) {
  if (name == "shepp-logan") return shepp_logan();
  if (name == "disc") return {{1, 0, 0, 0, .7, .7, kHigh, 0}};
  if (name == "discs") return discs();
  if (name == "ball") return {{1, .1, -.05, 0, .6, .6, .6, 0}};
  throw Error(Status::kUsage, "phantom " + name + ": expected shepp-logan, disc, discs or ball");
}

double Sight::height(std::size_t row) const noexcept {
  return (static_cast<double>(row) - (static_cast<double>(rows) - 1) / 2) * 2 /
         static_cast<double>(columns);
}

namespace {

/// A line of chords through one ellipsoid: `most` in the middle, `reach` to either side.
struct Chords {
  double at = 0, reach = 0, most = 0;
};

/// Adds their integrals over each pixel, `half_disc`'s of their length.
void add_chords(const Chords& chords, std::span<double> out) {
  const double last = static_cast<double>(out.size()) - 1;
  const double from = std::clamp(std::floor(chords.at - chords.reach - 1), 0.0, last);
  const double to = std::clamp(std::ceil(chords.at + chords.reach + 1), 0.0, last);
  const double area = chords.most * chords.reach;
  double before = half_disc((from - 0.5 - chords.at) / chords.reach);
  for (auto x = static_cast<std::size_t>(from); x <= static_cast<std::size_t>(to); ++x) {
    const double after = half_disc((static_cast<double>(x) + 0.5 - chords.at) / chords.reach);
    out[x] += area * (after - before);
    before = after;
  }
}

using Vector = std::array<double, 3>;

double product(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// Where the ellipsoid is the unit ball the ray of column x is the line p + x a + s d: its chord is
/// 2 sqrt((p . d)^2 - d^2 (p^2 - 1)) / d^2, the root of a square in x.
std::optional<Chords> chords_of(const Ellipsoid& e, const Sight& sight, double height,
                                double theta) {
  const double half = static_cast<double>(sight.columns) / 2, turn = e.turn * kDegree;
  const auto in_ball = [&](double u, double v, double z) {
    return Vector{(u * std::cos(turn) + v * std::sin(turn)) / (e.semi_u * half),
                  (v * std::cos(turn) - u * std::sin(turn)) / (e.semi_v * half),
                  z / (e.semi_z * half)};
  };
  const double c = std::cos(theta), s = std::sin(theta), ct = std::cos(sight.tilt);
  const Vector a = in_ball(c, s, 0), d = in_ball(-s * ct, c * ct, -std::sin(sight.tilt));
  const Vector p = in_ball(-e.u * half, -e.v * half, (height / ct - e.z) * half);
  const double dd = product(d, d), ad = product(a, d), pd = product(p, d);
  const double square = dd * product(a, a) - ad * ad;
  const double slope = ad * pd - dd * product(a, p);
  const double rest = pd * pd - dd * (product(p, p) - 1);
  const double reach = (rest + slope * slope / square) / square;
  if (!(reach > 0)) return {};
  return Chords{.at = sight.centre + slope / square,
                .reach = std::sqrt(reach),
                .most = 2 * e.value * sight.scale * std::sqrt(square * reach) / dd};
}

}  // namespace

void project_row(const Phantom& phantom, const Sight& sight, std::size_t row, double theta,
                 std::span<double> out) {
  std::fill(out.begin(), out.end(), 0.0);
  if (sight.tilt != 0) {
    for (const Ellipsoid& e : phantom) {
      if (const auto chords = chords_of(e, sight, sight.height(row), theta)) {
        add_chords(*chords, out);
      }
    }
    return;
  }
  const double c = std::cos(theta), s = std::sin(theta);
  for (const Ellipse& e : cut(phantom, sight, row)) {
    const double ct = std::cos(theta - e.turn), st = std::sin(theta - e.turn);
    const double reach = std::sqrt(e.semi_u * e.semi_u * ct * ct + e.semi_v * e.semi_v * st * st);
    add_chords({.at = sight.centre + e.u * c + e.v * s,
                .reach = reach,
                .most = 2 * e.value * e.semi_u * e.semi_v / reach},
               out);
  }
}

std::vector<float> true_slice(const Phantom& phantom, const Sight& sight, std::size_t row,
                              int fine) {
  const std::size_t n = sight.columns;
  const double middle = (static_cast<double>(n) - 1) / 2;
  std::vector<double> sum(n * n, 0);
  for (const Ellipse& e : cut(phantom, sight, row)) {
    const double c = std::cos(e.turn), s = std::sin(e.turn);
    const double reach = std::max(e.semi_u, e.semi_v) + 1;
    for (std::size_t r = 0; r < n; ++r) {
      const double v = middle - static_cast<double>(r) - e.v;
      if (std::abs(v) > reach) continue;
      for (std::size_t column = 0; column < n; ++column) {
        const double u = static_cast<double>(column) - middle - e.u;
        if (u * u + v * v > reach * reach) continue;
        int inside = 0;
        for (int k = 0; k < fine * fine; ++k) {
          const double du = u + (k % fine + 0.5) / fine - 0.5;
          const double dv = v + (k / fine + 0.5) / fine - 0.5;
          const double a = (du * c + dv * s) / e.semi_u, b = (dv * c - du * s) / e.semi_v;
          if (a * a + b * b < 1) ++inside;
        }
        sum[r * n + column] += e.value * inside / (fine * fine);
      }
    }
  }
  return {sum.begin(), sum.end()};
}

}  // namespace tomoloom
