// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/catalogue/healpix.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace fiberloom::catalogue {
namespace {

constexpr double kPi = std::numbers::pi;

/// The bits of v at every second place.
std::uint64_t spread(std::uint64_t v) noexcept {
  v = (v | (v << 16)) & 0x0000ffff0000ffffU;
  v = (v | (v << 8)) & 0x00ff00ff00ff00ffU;
  v = (v | (v << 4)) & 0x0f0f0f0f0f0f0f0fU;
  v = (v | (v << 2)) & 0x3333333333333333U;
  return (v | (v << 1)) & 0x5555555555555555U;
}
std::uint64_t gather(std::uint64_t v) noexcept {
  v &= 0x5555555555555555U;
  v = (v | (v >> 1)) & 0x3333333333333333U;
  v = (v | (v >> 2)) & 0x0f0f0f0f0f0f0f0fU;
  v = (v | (v >> 4)) & 0x00ff00ff00ff00ffU;
  v = (v | (v >> 8)) & 0x0000ffff0000ffffU;
  return (v | (v >> 16)) & 0x00000000ffffffffU;
}

/// A pixel as one of 12 squares and a place in it.
struct Place {
  int face;
  std::int64_t x, y;
};

Place place_of(const Direction& at, std::int64_t nside) noexcept {
  const double z = at[2], za = std::abs(z);
  const double turn = std::atan2(at[1], at[0]) / (kPi / 2);
  const double tt = turn < 0 ? turn + 4 : turn;  // [0, 4)
  const auto n = static_cast<double>(nside);
  const auto inside = [&](double v) {
    return std::clamp(static_cast<std::int64_t>(v), std::int64_t{0}, nside - 1);
  };
  if (za <= 2.0 / 3.0) {  // between the polar caps: lines of rising and of falling pixels
    const auto up = static_cast<std::int64_t>(std::max(0.0, n * (0.5 + tt) - n * z * 0.75));
    const auto down = static_cast<std::int64_t>(std::max(0.0, n * (0.5 + tt) + n * z * 0.75));
    const std::int64_t fu = up / nside, fd = down / nside;
    const int face = fu == fd ? static_cast<int>((fu & 3) + 4)
                              : static_cast<int>(fu < fd ? (fu & 3) : (fd & 3) + 8);
    return {face, down & (nside - 1), nside - (up & (nside - 1)) - 1};
  }
  const int quarter = std::min(3, static_cast<int>(tt));
  const double tp = tt - quarter;
  // n sqrt(3 (1 - |z|)), of the distance from the axis where z says nothing more
  const double s = std::hypot(at[0], at[1]);
  const double tmp = n * s / std::sqrt((1.0 + za) / 3.0);
  const std::int64_t jp = inside(tp * tmp), jm = inside((1.0 - tp) * tmp);
  if (z >= 0) return {quarter, nside - jm - 1, nside - jp - 1};
  return {quarter + 8, jp, jm};
}

/// Rings (counted in quarters of Nside from the north) and longitudes of the squares' lowest
/// corners.
constexpr std::array<int, 12> kRing{2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4};
constexpr std::array<int, 12> kAlong{1, 3, 5, 7, 0, 2, 4, 6, 1, 3, 5, 7};

Direction centre_of(const Place& p, std::int64_t nside) noexcept {
  const auto n = static_cast<double>(nside);
  const auto face = static_cast<std::size_t>(p.face);
  const std::int64_t ring = kRing[face] * nside - p.x - p.y - 1;  // 1 ... 4 nside - 1
  std::int64_t in_ring = nside;                                   // pixels of a quarter of it
  double z = 0, s = 0;
  if (ring < nside || ring > 3 * nside) {
    in_ring = ring < nside ? ring : 4 * nside - ring;
    const double t = static_cast<double>(in_ring) / n;
    const double below = t * t / 3;  // 1 - |z|
    z = ring < nside ? 1 - below : below - 1;
    s = std::sqrt(below * (2 - below));
  } else {
    z = static_cast<double>(2 * nside - ring) * 2 / (3 * n);
    s = std::sqrt((1 - z) * (1 + z));
  }
  // in units of half a pixel of the ring
  double along = static_cast<double>(kAlong[face] * in_ring + p.x - p.y);
  if (along < 0) along += static_cast<double>(8 * in_ring);
  const double phi = along * (kPi / 4) / static_cast<double>(in_ring);
  return {s * std::cos(phi), s * std::sin(phi), z};
}

double distance(const Direction& a, const Direction& b) noexcept {
  const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return 2 * std::asin(std::min(1.0, std::sqrt(x * x + y * y + z * z) / 2));
}

/// No point of a pixel is farther from its centre (radian). The longest pixels are those where the
/// polar caps begin: 0.8411 of Nside 1, and never more than 1.07 / Nside.
double reach(int order) noexcept {
  return order == 0 ? 0.85 : 1.1 / static_cast<double>(std::int64_t{1} << order);
}

void append(std::vector<PixelRange>& ranges, std::int64_t pixel, int order) {
  const int below = 2 * (kOrder - order);
  const PixelRange range{pixel << below, ((pixel + 1) << below) - 1};
  if (!ranges.empty() && ranges.back().last + 1 == range.first) {
    ranges.back().last = range.last;
  } else {
    ranges.push_back(range);
  }
}

struct Disc {
  Direction centre;
  double radius;
  int finest;  ///< pixels of this order that touch the cone are taken whole
};

void descend(const Disc& cone, std::int64_t pixel, int order, std::vector<PixelRange>& out) {
  const double apart = distance(cone.centre, pixel_centre(pixel, order));
  const double size = reach(order);
  if (apart > cone.radius + size) return;
  if (order == cone.finest || apart + size <= cone.radius) return append(out, pixel, order);
  for (int k = 0; k < 4; ++k) descend(cone, 4 * pixel + k, order + 1, out);
}

}  // namespace

Direction direction(double ra_deg, double dec_deg) noexcept {
  const double ra = std::remainder(ra_deg, 360.0) * (kPi / 180), dec = dec_deg * (kPi / 180);
  return {std::cos(dec) * std::cos(ra), std::cos(dec) * std::sin(ra), std::sin(dec)};
}

std::int64_t nested_pixel(const Direction& at, int order) noexcept {
  const Place p = place_of(at, std::int64_t{1} << order);
  return (static_cast<std::int64_t>(p.face) << (2 * order)) +
         static_cast<std::int64_t>(spread(static_cast<std::uint64_t>(p.x)) |
                                   (spread(static_cast<std::uint64_t>(p.y)) << 1));
}

Direction pixel_centre(std::int64_t pixel, int order) noexcept {
  const std::int64_t nside = std::int64_t{1} << order;
  const auto within = static_cast<std::uint64_t>(pixel & (nside * nside - 1));
  return centre_of(
      {static_cast<int>(pixel >> (2 * order)), static_cast<std::int64_t>(gather(within)),
       static_cast<std::int64_t>(gather(within >> 1))},
      nside);
}

std::vector<PixelRange> cone_ranges(const Direction& centre, double radius) {
  // Pixels of half the radius: few of them, and little beyond the cone.
  int finest = 0;
  while (finest < kOrder && reach(finest) > radius / 2) ++finest;
  std::vector<PixelRange> out;
  for (std::int64_t pixel = 0; pixel < 12; ++pixel)
    descend({centre, radius, finest}, pixel, 0, out);
  return out;
}

double chord_squared(double angle) noexcept {
  const double half = 2 * std::sin(std::min(angle, kPi) / 2);
  return half * half;
}

}  // namespace fiberloom::catalogue
