// SPDX-License-Identifier: BSD-3-Clause
// Detectors: where each looks from the boresight, how it is turned, what its noise is. Knows no
// files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "skyloom/pointing/quaternion.hpp"

namespace skyloom {

/// Power spectrum NET^2 (f^slope + fknee^slope) / (f^slope + fmin^slope), white where fknee is 0.
struct DetectorNoise {
  double net = 0;  ///< K sqrt(s)
  double fmin_hz = 0, fknee_hz = 0, slope = 1;
  friend bool operator==(const DetectorNoise&, const DetectorNoise&) = default;
};

struct Detector {
  std::string name = {};
  Quaternion place =
      {};  ///< from the detector's frame (x: polarisation, z: line of sight) to the boresight's
  double gamma = 0;    ///< angle of polarisation on the focal plane, rad
  double leakage = 0;  ///< cross-polar leakage eps: polarisation efficiency (1 - eps) / (1 + eps)
  std::uint32_t uid = 0;  ///< of its noise stream
  DetectorNoise noise = {};
  double common_psd = 0;  ///< K^2 s: white noise of common modes, beside NET^2
  /// What it has in FocalPlane::groups: detectors that are alike can have noise in common.
  std::vector<std::string> groups = {};

  [[nodiscard]] double efficiency() const noexcept { return (1 - leakage) / (1 + leakage); }
};

struct FocalPlane {
  std::vector<Detector> detectors;
  double rate_hz = 1;
  std::vector<std::string> groups = {};  ///< columns of files, of Detector::groups
};

struct HexagonOptions {
  std::size_t pixels = 7;  ///< 1, 7, 19, 37 ...: of two detectors each, turned by 90 degrees
  double width_deg = 5;    ///< from vertex to vertex, between the middles of pixels
  double rate_hz = 1;
  double leakage = 0;
  DetectorNoise noise = {};
  std::size_t band_ghz = 150;  ///< part of the names
};

/// Rings of a hexagon of so many pixels, the middle counted as one; 0 where they fill none.
[[nodiscard]] std::size_t hexagon_rings(std::size_t pixels) noexcept;

/// What a hexagon's groups are: the two detectors of a pixel, by TOAST's name.
inline constexpr const char* kPixelGroups = "pixel";

/// A hexagon of pairs, numbered from the middle outward: names, places and uids as those of TOAST's
/// test focal planes. Angles of polarisation alternate between 0 and 45 degrees by columns. Throws
/// kUsage where hexagon_rings() is 0, and where there are several pixels and no width.
[[nodiscard]] FocalPlane hexagon(const HexagonOptions& options);

}  // namespace skyloom
