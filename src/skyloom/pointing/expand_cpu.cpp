// SPDX-License-Identifier: BSD-3-Clause
// Plain loops that the compiler takes apart into lanes of this ISA level by itself (compiled once
// for each). Both parts of the sphere, belt and caps, are computed and one is taken.
#include <cmath>

#include "skyloom/pixels/bits.hpp"
#include "skyloom/pointing/expand_kernels.hpp"

namespace skyloom::FIBERLOOM_ISA_NS {
namespace {

constexpr std::size_t kBlock = 256;

/// What a direction is, as far as pixels ask.
struct Directions {
  double x[kBlock], y[kBlock], z[kBlock];
};

void turn_block(const ExpandView& view, std::size_t first, std::size_t n, Directions& to) {
  const double px = view.place[0], py = view.place[1], pz = view.place[2], pw = view.place[3];
  for (std::size_t i = 0; i < n; ++i) {
    const double bx = view.x[first + i], by = view.y[first + i], bz = view.z[first + i],
                 bw = view.w[first + i];
    const double x = bw * px + bx * pw + by * pz - bz * py;
    const double y = bw * py - bx * pz + by * pw + bz * px;
    const double z = bw * pz + bx * py - by * px + bz * pw;
    const double w = bw * pw - bx * px - by * py - bz * pz;
    to.x[i] = 2 * (x * z + w * y);
    to.y[i] = 2 * (y * z - w * x);
    to.z[i] = 1 - 2 * (x * x + y * y);
    // the meridian's components of the detector's axes x and y
    const double a = x * z - w * y, b = y * z + w * x, all = a * a + b * b;
    const bool pole = !(all > 0);
    const double scale = view.efficiency / (pole ? 1.0 : all);
    view.q[first + i] = pole ? view.efficiency : (a * a - b * b) * scale;
    view.u[first + i] = -2 * a * b * scale;
  }
}

/// Behind a half-wave plate: (q, u) turned by 4 (h - gamma).
void turn_plate(const ExpandView& view, std::size_t first, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const double pc = view.plate_cos[first + i], ps = view.plate_sin[first + i];
    const double c = pc * view.gamma_cos + ps * view.gamma_sin;
    const double s = ps * view.gamma_cos - pc * view.gamma_sin;
    const double q = view.q[first + i], u = view.u[first + i];
    view.q[first + i] = q * c - u * s;
    view.u[first + i] = q * s + u * c;
  }
}

/// atan2(y, x) in quarter turns, from 0 to 4.
double quarters(double y, double x) {
  const double ax = std::fabs(x), ay = std::fabs(y);
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

/// The two diagonals of a direction, of the belt counted over faces, of a cap within its face.
struct Diagonals {
  std::int32_t rising[kBlock], falling[kBlock], face[kBlock];
};

void find_diagonals(const Directions& to, std::size_t n, double nside, Diagonals& out) {
  for (std::size_t i = 0; i < n; ++i) {
    const double z = to.z[i], height = std::fabs(z);
    const double turn = quarters(to.y[i], to.x[i]);
    const double along = nside * (0.5 + turn), up = nside * (z * 0.75);
    const double across = to.x[i] * to.x[i] + to.y[i] * to.y[i];
    const double from_pole = nside * __builtin_sqrt(3 * across / (1 + height));
    const double whole = static_cast<double>(static_cast<std::int32_t>(turn));
    const double part = turn - whole;
    const bool belt = height <= 2.0 / 3;
    const double most = nside - 1;
    const double cap_rising = part * from_pole, cap_falling = (1 - part) * from_pole;
    const double rising = belt ? along - up : (cap_rising < most ? cap_rising : most);
    const double falling = belt ? along + up : (cap_falling < most ? cap_falling : most);
    out.rising[i] = static_cast<std::int32_t>(rising);
    out.falling[i] = static_cast<std::int32_t>(falling);
    const double cap_face = z < 0 ? whole + 8 : whole;
    out.face[i] = belt ? -1 : static_cast<std::int32_t>(cap_face);
  }
}

void number_pixels(const Diagonals& in, std::size_t n, int order, std::int32_t* out) {
  const std::int32_t mask = (1 << order) - 1;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int32_t rising = in.rising[i], falling = in.falling[i], face = in.face[i];
    const std::int32_t up = rising >> order, down = falling >> order;
    const std::int32_t belt_face = up == down ? (up | 4) : (up < down ? up : down + 8);
    const bool belt = face < 0, north = face < 4;
    const std::int32_t x = belt ? falling & mask : (north ? mask - falling : rising);
    const std::int32_t y = belt ? mask - (rising & mask) : (north ? mask - rising : falling);
    const std::uint32_t place = spread_bits(static_cast<std::uint32_t>(x)) |
                                spread_bits(static_cast<std::uint32_t>(y)) << 1;
    out[i] = ((belt ? belt_face : face) << (2 * order)) + static_cast<std::int32_t>(place);
  }
}

void expand(const ExpandView& view) {
  Directions to;
  Diagonals diagonals;
  const auto nside = static_cast<double>(std::int64_t{1} << view.order);
  for (std::size_t first = 0; first < view.samples; first += kBlock) {
    const std::size_t left = view.samples - first, n = left < kBlock ? left : kBlock;
    turn_block(view, first, n, to);
    if (view.plate_cos != nullptr) turn_plate(view, first, n);
    find_diagonals(to, n, nside, diagonals);
    number_pixels(diagonals, n, view.order, view.pixels + first);
  }
}

}  // namespace

extern const ExpandKernels kExpand;
const ExpandKernels kExpand{expand};

}  // namespace skyloom::FIBERLOOM_ISA_NS
