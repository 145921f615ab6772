// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/pointing/focal_plane.hpp"

#include <numbers>

#include "loom/base/print.hpp"
#include "skyloom/random/name_uid.hpp"
#include "skyloom/status.hpp"

namespace skyloom {
namespace {

using std::numbers::pi;

/// Ring, sector (of 60 degrees) and step within it of a pixel that is not the middle one.
struct HexagonPlace {
  std::size_t ring = 1, sector = 0, step = 0;
};

HexagonPlace place_of(std::size_t pixel) {
  std::size_t left = pixel - 1, ring = 1;
  while (left >= 6 * ring) left -= 6 * ring++;
  return {ring, left / ring, left % ring};
}

/// The column of a pixel, counted from the left end of its row.
long column_of(std::size_t pixel, std::size_t rings) {
  if (pixel == 0) return static_cast<long>(rings) - 1;
  const HexagonPlace at = place_of(pixel);
  const long ring = static_cast<long>(at.ring), step = static_cast<long>(at.step);
  const long first = static_cast<long>(rings) - ring - 1;
  switch (at.sector) {
    case 0:
      return first + 2 * ring - step;
    case 1:
      return first + ring - step;
    case 4:
      return first + step;
    case 5:
      return first + ring + step;
    default:
      return first;
  }
}

/// Projected place (xi, eta) and angle gamma as a rotation.
Quaternion from_plane(double xi, double eta, double gamma) {
  const double theta = std::asin(std::hypot(xi, eta));
  const double phi = theta < 1e-12 ? 0 : std::atan2(-xi, -eta);
  return about_z(phi) * about_y(theta) * about_z(gamma - phi);
}

Quaternion place_on_sky(std::size_t pixel, double step_rad, double gamma) {
  if (pixel == 0) return from_plane(0, 0, gamma);
  const HexagonPlace at = place_of(pixel);
  const double ring = static_cast<double>(at.ring), half_width = std::numbers::sqrt3 / 2;
  const double turn = std::atan2(static_cast<double>(at.step) - ring / 2, half_width * ring);
  const double angle = static_cast<double>(at.sector) * pi / 3 + pi / 6 + turn;
  const double distance = std::sin(half_width * step_rad * ring / std::cos(turn));
  return from_plane(distance * std::cos(angle), distance * std::sin(angle), gamma);
}

}  // namespace

std::size_t hexagon_rings(std::size_t pixels) noexcept {
  std::size_t rings = 1, all = 1;
  while (all < pixels) all += 6 * rings++;
  return pixels > 0 && all == pixels ? rings : 0;
}

FocalPlane hexagon(const HexagonOptions& options) {
  const std::size_t rings = hexagon_rings(options.pixels);
  if (rings == 0) {
    throw Error(Status::kUsage,
                print("%zu pixels fill no hexagon: expected 1, 7, 19, 37, 61 ...", options.pixels));
  }
  if (rings > 1 && !(options.width_deg > 0)) {
    throw Error(Status::kUsage,
                print("a focal plane %g degrees wide: expected more than 0", options.width_deg));
  }
  const double step =
      rings > 1 ? options.width_deg * pi / 180 / static_cast<double>(2 * rings - 2) : 0;
  const int digits = static_cast<int>(std::to_string(options.pixels).size());
  FocalPlane plane{.detectors = {}, .rate_hz = options.rate_hz, .groups = {kPixelGroups}};
  for (std::size_t pixel = 0; pixel < options.pixels; ++pixel) {
    const std::string name = print("D%0*zu", digits, pixel);
    const double column_angle = column_of(pixel, rings) % 2 == 0 ? 0 : pi / 4;
    for (const char* side : {"A", "B"}) {
      const double gamma = column_angle + (*side == 'B' ? pi / 2 : 0);
      Detector detector{.name = name + side + print("-%zu", options.band_ghz),
                        .place = place_on_sky(pixel, step, gamma),
                        .gamma = gamma,
                        .leakage = options.leakage,
                        .uid = 0,
                        .noise = options.noise,
                        .groups = {name}};
      detector.uid = name_uid(detector.name);
      plane.detectors.push_back(std::move(detector));
    }
  }
  return plane;
}

}  // namespace skyloom
