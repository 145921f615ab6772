// SPDX-License-Identifier: BSD-3-Clause
// Unit quaternions (x, y, z, w) as rotations: (a * b) turns by b first.
#pragma once

#include <cmath>

#include "skyloom/foundation.hpp"

namespace skyloom {

struct Quaternion {
  double x = 0, y = 0, z = 0, w = 1;

  friend constexpr Quaternion operator*(const Quaternion& a, const Quaternion& b) noexcept {
    return {a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
            a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
            a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
  }
};

[[nodiscard]] inline double length_of(const Quaternion& q) noexcept {
  return std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
}
[[nodiscard]] inline Quaternion normalised(const Quaternion& q) noexcept {
  const double length = length_of(q);
  return {q.x / length, q.y / length, q.z / length, q.w / length};
}

/// Of four numbers that somebody gave. What is within 1e-9 of 1 in length stays as it is, to the
/// last bit; what has no length that numbers can tell becomes NaN.
[[nodiscard]] inline Quaternion unit_quaternion(const double* given) noexcept {
  constexpr double kLeast = 1e-100;  // its square has all digits
  const Quaternion q{given[0], given[1], given[2], given[3]};
  const double length = length_of(q);
  if (!(length > kLeast && length < 1 / kLeast)) return {NAN, NAN, NAN, NAN};
  return std::fabs(length - 1) < 1e-9 ? q : normalised(q);
}

[[nodiscard]] inline Quaternion about_x(double angle) noexcept {
  return {std::sin(angle / 2), 0, 0, std::cos(angle / 2)};
}
[[nodiscard]] inline Quaternion about_y(double angle) noexcept {
  return {0, std::sin(angle / 2), 0, std::cos(angle / 2)};
}
[[nodiscard]] inline Quaternion about_z(double angle) noexcept {
  return {0, 0, std::sin(angle / 2), std::cos(angle / 2)};
}

}  // namespace skyloom
