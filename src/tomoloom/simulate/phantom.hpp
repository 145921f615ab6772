// SPDX-License-Identifier: BSD-3-Clause
// Bodies made of ellipsoids, whose projections are known without any error: the truth of all tests.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tomoloom/foundation.hpp"

namespace tomoloom {

/// An ellipsoid with one axis along the axis of rotation. Lengths in units of half the detector's
/// width, the origin on the axis of rotation in the middle row; values of overlapping ones add up.
struct Ellipsoid {
  double value = 1;
  double u = 0, v = 0, z = 0;  ///< middle
  double semi_u = 1, semi_v = 1, semi_z = 1;
  double turn = 0;  ///< degrees, of semi_u from u toward v
};

using Phantom = std::vector<Ellipsoid>;

/// The names that phantom() knows.
[[nodiscard]] const std::vector<std::string>& phantom_names();
/// shepp-logan (ten ellipsoids, the version of high contrast), disc (a cylinder of radius 0.7 of
/// half the width), discs (small ones at growing distance from the axis, of equal value), ball.
/// Throws kUsage for another name.
[[nodiscard]] Phantom phantom(const std::string& name);

/// How the detector sees the body.
struct Sight {
  std::size_t columns = 0, rows = 0;
  double centre = 0;  ///< column that the axis is projected to
  double scale = 1;   ///< attenuation a pixel's length where the value is 1
  /// Radians that the axis is tilted along the beam, about the middle row: what lies y pixels along
  /// the beam (-u sin(theta) + v cos(theta)) is seen y sin(tilt) rows further down.
  double tilt = 0;
  /// Height of a row's middle in units of half the width.
  [[nodiscard]] double height(std::size_t row) const noexcept;
};

/// Line integrals of one row at angle theta (radians), averaged over the width of each pixel (the
/// integral of each chord is known in closed form), at the height of the row's middle. O(ellipsoids
/// columns).
void project_row(const Phantom& phantom, const Sight& sight, std::size_t row, double theta,
                 std::span<double> out);

/// The slice that the row sees on the axis, [columns][columns], the axis in its middle: the mean
/// over `fine` x `fine` points in each pixel.
[[nodiscard]] std::vector<float> true_slice(const Phantom& phantom, const Sight& sight,
                                            std::size_t row, int fine = 8);

}  // namespace tomoloom
