// SPDX-License-Identifier: BSD-3-Clause
// What expanding does with one sample: one text for the CPU's loops of every ISA level and for a
// device's threads. Plain data only.
#pragma once

#include <math.h>  // NOLINT(modernize-deprecated-headers): ::sqrt, for nvcc as well

#include <cstddef>
#include <cstdint>

#include "loom/base/scalar_lane.hpp"
#include "skyloom/pixels/bits.hpp"

namespace skyloom {

enum class PixelKind : std::int32_t { kHealpix, kCar, kTan };

/// A flat grid's constants, made once.
struct FlatGrid {
  double columns = 0, rows = 0;
  double scale = 0;         ///< cells of a quarter turn (CAR), of the tangent 1 (TAN)
  double lon = 0, lat = 0;  ///< CAR: of the middle, in quarter turns, lon in [0, 4)
  double ahead[3] = {}, west[2] = {}, north[3] = {};  ///< TAN: axes of the plane
  std::int32_t across = 0;                            ///< tiles of a row
};

inline constexpr int kCellShift = 4;  ///< 2^4 x 2^4 cells of a flat grid are a tile

struct ExpandView {
  const double *x = nullptr, *y = nullptr, *z = nullptr, *w = nullptr;  ///< of the boresight
  double place[4] = {0, 0, 0, 1};
  double efficiency = 1;
  const double *plate_cos = nullptr, *plate_sin = nullptr;  ///< cos 4h, sin 4h; null: no plate
  double gamma_cos = 1, gamma_sin = 0;                      ///< of 4 gamma
  PixelKind kind = PixelKind::kHealpix;
  int order = 0;  ///< log2(Nside)
  FlatGrid flat;
  std::size_t samples = 0;
  std::int32_t* pixels = nullptr;
  double *q = nullptr, *u = nullptr;
};

namespace lane {

// One for each ISA level where there are several: `inline` alone would let the linker take one.
#define SKY_LANE [[gnu::always_inline]] FL_LANE_HD inline

struct Look {
  double x, y, z;
};

/// Where a sample looks; its q and u go to the view.
SKY_LANE Look turn_sample(const ExpandView& view, std::size_t i) {
  const double px = view.place[0], py = view.place[1], pz = view.place[2], pw = view.place[3];
  const double bx = view.x[i], by = view.y[i], bz = view.z[i], bw = view.w[i];
  const double x = bw * px + bx * pw + by * pz - bz * py;
  const double y = bw * py - bx * pz + by * pw + bz * px;
  const double z = bw * pz + bx * py - by * px + bz * pw;
  const double w = bw * pw - bx * px - by * py - bz * pz;
  // the meridian's components of the detector's axes x and y
  const double a = x * z - w * y, b = y * z + w * x, all = a * a + b * b;
  const bool pole = !(all > 0);
  const double scale = view.efficiency / (pole ? 1.0 : all);
  view.q[i] = pole ? view.efficiency : (a * a - b * b) * scale;
  view.u[i] = -2 * a * b * scale;
  return {2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)};
}

/// Behind a half-wave plate: (q, u) turned by 4 (h - gamma).
SKY_LANE void turn_plate(const ExpandView& view, std::size_t i) {
  const double pc = view.plate_cos[i], ps = view.plate_sin[i];
  const double c = pc * view.gamma_cos + ps * view.gamma_sin;
  const double s = ps * view.gamma_cos - pc * view.gamma_sin;
  const double q = view.q[i], u = view.u[i];
  view.q[i] = q * c - u * s;
  view.u[i] = q * s + u * c;
}

/// atan2(y, x) in quarter turns, from 0 to 4.
SKY_LANE double quarters(double y, double x) {
  const double ax = ::fabs(x), ay = ::fabs(y);
  const double low = ax < ay ? ax : ay, high = ax < ay ? ay : ax;
  // atan of low / high, turned by pi / 8 where that is nearer: |t| <= tan(pi / 8)
  const bool wide = low > 0.41421356237309503 * high;
  const double over = wide ? low - high : low, under = wide ? low + high : high;
  const double t = over / (under > 0 ? under : 1.0), z = t * t;
  double p = -8.750608600031904122785e-1;
  p = p * z - 1.615753718733365076637e1;
  p = p * z - 7.500855792314704667340e1;
  p = p * z - 1.228866684490136173410e2;
  p = p * z - 6.485021904942025371773e1;
  double d = z + 2.485846490142306297962e1;
  d = d * z + 1.650270098316988542046e2;
  d = d * z + 4.328810604912902668951e2;
  d = d * z + 4.853903996359136964868e2;
  d = d * z + 1.945506571482613964425e2;
  const double small = t + t * (z * p / d);
  double angle = small * 0.63661977236758134308 + (wide ? 0.5 : 0.0);
  angle = ax < ay ? 1 - angle : angle;
  angle = x < 0 ? 2 - angle : angle;
  angle = y < 0 ? 4 - angle : angle;
  return angle < 4 ? angle : 0.0;
}

/// The two diagonals of a direction: of the belt counted over faces, of a cap within its face; the
/// face of the latter, -1 in the belt.
struct Diagonals {
  std::int32_t rising, falling, face;
};

/// Both parts of the sphere, belt and caps, are computed and one is taken.
SKY_LANE Diagonals diagonals(const Look& to, double nside) {
  const double z = to.z, height = ::fabs(z);
  const double turn = quarters(to.y, to.x);
  const double along = nside * (0.5 + turn), up = nside * (z * 0.75);
  const double across = to.x * to.x + to.y * to.y;
  const double from_pole = nside * ::sqrt(3 * across / (1 + height));
  const double whole = static_cast<double>(static_cast<std::int32_t>(turn));
  const double part = turn - whole;
  const bool belt = height <= 2.0 / 3;
  const double most = nside - 1;
  const double cap_rising = part * from_pole, cap_falling = (1 - part) * from_pole;
  const double rising = belt ? along - up : (cap_rising < most ? cap_rising : most);
  const double falling = belt ? along + up : (cap_falling < most ? cap_falling : most);
  const double cap_face = z < 0 ? whole + 8 : whole;
  return {static_cast<std::int32_t>(rising), static_cast<std::int32_t>(falling),
          belt ? -1 : static_cast<std::int32_t>(cap_face)};
}

/// NESTED.
SKY_LANE std::int32_t healpix_number(const Diagonals& in, int order) {
  const std::int32_t mask = (1 << order) - 1;
  const std::int32_t rising = in.rising, falling = in.falling, face = in.face;
  const std::int32_t up = rising >> order, down = falling >> order;
  const std::int32_t belt_face = up == down ? (up | 4) : (up < down ? up : down + 8);
  const bool belt = face < 0, north = face < 4;
  const std::int32_t x = belt ? falling & mask : (north ? mask - falling : rising);
  const std::int32_t y = belt ? mask - (rising & mask) : (north ? mask - rising : falling);
  const std::uint32_t place =
      spread_bits(static_cast<std::uint32_t>(x)) | spread_bits(static_cast<std::uint32_t>(y)) << 1;
  return ((belt ? belt_face : face) << (2 * order)) + static_cast<std::int32_t>(place);
}

/// Cells from the grid's corner in the east and south; `there`: the projection has the place.
struct Cell {
  double column, row;
  bool there;
};

SKY_LANE Cell car_cell(const Look& to, const FlatGrid& grid) {
  const double turn = grid.lon - quarters(to.y, to.x);
  const double west = turn >= 2 ? turn - 4 : (turn < -2 ? turn + 4 : turn);
  const double height = quarters(::fabs(to.z), ::sqrt(to.x * to.x + to.y * to.y));
  const double north = (to.z < 0 ? -height : height) - grid.lat;
  return {west * grid.scale + grid.columns / 2, north * grid.scale + grid.rows / 2, true};
}

SKY_LANE Cell tan_cell(const Look& to, const FlatGrid& grid) {
  const double ahead = to.x * grid.ahead[0] + to.y * grid.ahead[1] + to.z * grid.ahead[2];
  const double west = to.x * grid.west[0] + to.y * grid.west[1];
  const double north = to.x * grid.north[0] + to.y * grid.north[1] + to.z * grid.north[2];
  const bool there = ahead > 0;
  const double scale = grid.scale / (there ? ahead : 1.0);
  return {west * scale + grid.columns / 2, north * scale + grid.rows / 2, there};
}

/// Tiles are squares; -1: outside.
SKY_LANE std::int32_t flat_number(const Cell& cell, const FlatGrid& grid) {
  const bool inside = cell.there && cell.column >= 0 && cell.column < grid.columns &&
                      cell.row >= 0 && cell.row < grid.rows;
  const auto column = static_cast<std::int32_t>(inside ? cell.column : 0.0);
  const auto row = static_cast<std::int32_t>(inside ? cell.row : 0.0);
  constexpr std::int32_t kMask = (1 << kCellShift) - 1;
  const std::int32_t tile = (row >> kCellShift) * grid.across + (column >> kCellShift);
  const std::int32_t place = ((row & kMask) << kCellShift) + (column & kMask);
  return inside ? (tile << (2 * kCellShift)) + place : -1;
}

}  // namespace lane
}  // namespace skyloom
