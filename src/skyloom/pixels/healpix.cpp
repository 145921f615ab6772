// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/pixels/healpix.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <string>

#include "skyloom/pixels/bits.hpp"
#include "skyloom/status.hpp"

namespace skyloom {
namespace {

// Rings and longitudes of the lowest corners of the base faces, in units of Nside and half of it.
constexpr std::int64_t kFaceRing[12] = {2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4};
constexpr std::int64_t kFaceColumn[12] = {1, 3, 5, 7, 0, 2, 4, 6, 1, 3, 5, 7};

/// Bit 2 i to bit i.
std::uint32_t gather_bits(std::uint32_t v) noexcept {
  v &= 0x55555555U;
  v = (v ^ (v >> 1)) & 0x33333333U;
  v = (v ^ (v >> 2)) & 0x0f0f0f0fU;
  v = (v ^ (v >> 4)) & 0x00ff00ffU;
  return (v ^ (v >> 8)) & 0x0000ffffU;
}

/// The largest integer whose square is not above v.
std::int64_t square_root(std::int64_t v) noexcept {
  auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(v) + 0.5));
  while (root * root > v) --root;
  while ((root + 1) * (root + 1) <= v) ++root;
  return root;
}

/// A ring from the north: its place among the pixels.
struct Ring {
  std::int64_t length = 0;  ///< a quarter of its pixels
  std::int64_t before = 0;  ///< pixels north of it
  std::int64_t shift = 0;   ///< 1 where its first pixel begins at longitude 0
};

Ring ring_at(std::int64_t nside, std::int64_t number) noexcept {
  if (number < nside) return {number, 2 * number * (number - 1), 0};
  const std::int64_t cap = 2 * nside * (nside - 1), all = 12 * nside * nside;
  if (number > 3 * nside) {
    const std::int64_t left = 4 * nside - number;
    return {left, all - 2 * (left + 1) * left, 0};
  }
  return {nside, cap + (number - nside) * 4 * nside, (number - nside) & 1};
}

/// The face that two diagonals of the equatorial belt name.
std::int64_t belt_face(std::int64_t rising, std::int64_t falling) noexcept {
  if (rising == falling) return rising | 4;
  return rising < falling ? rising : falling + 8;
}

}  // namespace

Healpix::Healpix(std::int64_t nside) : nside_(nside) {
  if (nside < 1 || nside > kMostNside || !std::has_single_bit(static_cast<std::uint64_t>(nside))) {
    throw Error(kPixelisation, "Nside " + std::to_string(nside) +
                                   ": expected a power of two from 1 to " +
                                   std::to_string(kMostNside));
  }
  order_ = std::countr_zero(static_cast<std::uint64_t>(nside));
}

Pixel Healpix::nested(const Direction& to) const noexcept {
  const double across = to.x * to.x + to.y * to.y, length = std::sqrt(across + to.z * to.z);
  const double z = to.z / length, height = std::fabs(z), n = static_cast<double>(nside_);
  double quarter = std::atan2(to.y, to.x) * (2 / std::numbers::pi);
  if (quarter < 0) quarter += 4;
  if (quarter >= 4) quarter = 0;
  if (height <= 2.0 / 3) {
    const double along = n * (0.5 + quarter), up = n * (z * 0.75);
    const auto rising = static_cast<std::int64_t>(along - up);
    const auto falling = static_cast<std::int64_t>(along + up);
    const std::int64_t face = belt_face(rising >> order_, falling >> order_);
    return at({static_cast<std::int32_t>(face), static_cast<std::int32_t>(falling & (nside_ - 1)),
               static_cast<std::int32_t>(nside_ - (rising & (nside_ - 1)) - 1)});
  }
  const std::int64_t turn = std::min<std::int64_t>(3, static_cast<std::int64_t>(quarter));
  const double part = quarter - static_cast<double>(turn);
  // 3 (1 - |z|) without the difference, which has few digits near a pole
  const double from_pole = n * std::sqrt(3 * across / (length * length * (1 + height)));
  const auto rising = std::min(nside_ - 1, static_cast<std::int64_t>(part * from_pole));
  const auto falling = std::min(nside_ - 1, static_cast<std::int64_t>((1 - part) * from_pole));
  if (z >= 0) {
    return at({static_cast<std::int32_t>(turn), static_cast<std::int32_t>(nside_ - falling - 1),
               static_cast<std::int32_t>(nside_ - rising - 1)});
  }
  return at({static_cast<std::int32_t>(turn + 8), static_cast<std::int32_t>(rising),
             static_cast<std::int32_t>(falling)});
}

FacePlace Healpix::place(Pixel pixel) const noexcept {
  const auto within =
      static_cast<std::uint32_t>(pixel) & static_cast<std::uint32_t>(nside_ * nside_ - 1);
  return {pixel >> (2 * order_), static_cast<std::int32_t>(gather_bits(within)),
          static_cast<std::int32_t>(gather_bits(within >> 1))};
}

Pixel Healpix::at(const FacePlace& place) const noexcept {
  return static_cast<Pixel>(
      (place.face << (2 * order_)) +
      static_cast<std::int32_t>(spread_bits(static_cast<std::uint32_t>(place.x)) +
                                (spread_bits(static_cast<std::uint32_t>(place.y)) << 1)));
}

Direction Healpix::centre(Pixel pixel) const noexcept {
  const FacePlace at = place(pixel);
  const std::int64_t number = kFaceRing[at.face] * nside_ - at.x - at.y - 1;
  const Ring ring = ring_at(nside_, number);
  const double n = static_cast<double>(nside_);
  double z = 0, across = 0;
  if (ring.length < nside_) {
    const double below =
        static_cast<double>(ring.length) * static_cast<double>(ring.length) / (3 * n * n);
    z = number < nside_ ? 1 - below : below - 1;
    across = std::sqrt(below * (2 - below));
  } else {
    z = static_cast<double>(2 * nside_ - number) * 2 / (3 * n);
    across = std::sqrt((1 - z) * (1 + z));
  }
  std::int64_t column = kFaceColumn[at.face] * ring.length + at.x - at.y;
  if (column < 0) column += 8 * ring.length;
  const double phi =
      std::numbers::pi / 4 * static_cast<double>(column) / static_cast<double>(ring.length);
  return {across * std::cos(phi), across * std::sin(phi), z};
}

Pixel Healpix::to_ring(Pixel pixel) const noexcept {
  const FacePlace at = place(pixel);
  const Ring ring = ring_at(nside_, kFaceRing[at.face] * nside_ - at.x - at.y - 1);
  std::int64_t column = (kFaceColumn[at.face] * ring.length + at.x - at.y + 1 + ring.shift) / 2;
  if (column < 1) column += 4 * nside_;
  return static_cast<Pixel>(ring.before + column - 1);
}

Pixel Healpix::to_nested(Pixel pixel) const noexcept {
  const std::int64_t cap = 2 * nside_ * (nside_ - 1), all = pixels();
  std::int64_t number = 0, column = 0, shift = 0, length = 0, face = 0;
  if (pixel < cap) {
    number = length = (1 + square_root(1 + 2 * std::int64_t{pixel})) / 2;
    column = pixel + 1 - 2 * number * (number - 1);
    face = (column - 1) / length;
  } else if (pixel < all - cap) {
    const std::int64_t within = pixel - cap, row = within / (4 * nside_);
    number = row + nside_;
    length = nside_;
    column = within - row * 4 * nside_ + 1;
    shift = row & 1;
    const std::int64_t up = row + 1, down = 2 * nside_ + 1 - row;
    face = belt_face((column - down / 2 + nside_ - 1) / nside_,
                     (column - up / 2 + nside_ - 1) / nside_);
  } else {
    const std::int64_t left = all - pixel;
    length = (1 + square_root(2 * left - 1)) / 2;
    column = 4 * length + 1 - (left - 2 * length * (length - 1));
    number = 4 * nside_ - length;
    face = 8 + (column - 1) / length;
  }
  const std::int64_t down = number - kFaceRing[face] * nside_ + 1;
  std::int64_t right = 2 * column - kFaceColumn[face] * length - shift - 1;
  if (right >= 2 * nside_) right -= 8 * nside_;
  return at({static_cast<std::int32_t>(face), static_cast<std::int32_t>((right - down) >> 1),
             static_cast<std::int32_t>((-right - down) >> 1)});
}

std::int64_t nside_of(std::int64_t pixels) {
  const std::int64_t nside = square_root(std::max<std::int64_t>(pixels, 0) / 12);
  if (pixels < 12 || 12 * nside * nside != pixels) {
    throw Error(kPixelisation,
                std::to_string(pixels) + " pixels: expected 12 Nside^2, Nside a power of two");
  }
  return Healpix(nside).nside();
}

}  // namespace skyloom
