// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/pointing/expand.hpp"

#include <cmath>

#include "loom/simd/isa_tables.hpp"
#include "skyloom/pointing/expand_kernels.hpp"

namespace skyloom {
namespace {

/// The z axis of what the quaternion turns.
Direction look_of(const Quaternion& q) noexcept {
  return {2 * (q.x * q.z + q.w * q.y), 2 * (q.y * q.z - q.w * q.x),
          1 - 2 * (q.x * q.x + q.y * q.y)};
}

PixelKind kind_of(const SkyGrid& grid) noexcept {
  if (grid.wcs() == nullptr) return PixelKind::kHealpix;
  return grid.wcs()->projection == Projection::kTan ? PixelKind::kTan : PixelKind::kCar;
}

}  // namespace

LOOM_ISA_TABLES(ExpandKernels, kExpand, expand_kernels)

ExpandView expand_view(const Boresight& boresight, std::size_t first, const Detector& detector,
                       const SkyGrid& grid, const Pointing& out) {
  const Quaternion& place = detector.place;
  const bool plate = has_plate(boresight);
  return {.x = boresight.row(0) + first,
          .y = boresight.row(1) + first,
          .z = boresight.row(2) + first,
          .w = boresight.row(3) + first,
          .place = {place.x, place.y, place.z, place.w},
          .efficiency = detector.efficiency(),
          .plate_cos = plate ? boresight.row(kPlateAngle + 1) + first : nullptr,
          .plate_sin = plate ? boresight.row(kPlateAngle + 2) + first : nullptr,
          .gamma_cos = std::cos(4 * detector.gamma),
          .gamma_sin = std::sin(4 * detector.gamma),
          .kind = kind_of(grid),
          .order = grid.healpix().order(),
          .flat = grid.flat(),
          .samples = out.pixels.size(),
          .pixels = out.pixels.data(),
          .q = out.q.data(),
          .u = out.u.data()};
}

void expand_pointing(const Boresight& boresight, std::size_t first, const Detector& detector,
                     const SkyGrid& grid, const Pointing& out, Isa isa) {
  expand_kernels(isa).expand(expand_view(boresight, first, detector, grid, out));
}

void expand_pointing_reference(const Boresight& boresight, std::size_t first,
                               const Detector& detector, const SkyGrid& grid, const Pointing& out) {
  for (std::size_t i = 0; i < out.pixels.size(); ++i) {
    const Quaternion q = quaternion_at(boresight, first + i) * detector.place;
    out.pixels[i] = grid.pixel(look_of(q));
    // the angle from the meridian (southward) to the axis x of the detector, east being positive
    const double angle = std::atan2(2 * (q.y * q.z + q.w * q.x), -2 * (q.x * q.z - q.w * q.y));
    const double plate =
        has_plate(boresight) ? 4 * (detector.gamma - boresight(kPlateAngle, first + i)) : 0;
    const double twice = has_plate(boresight) ? 2 * angle - plate : 2 * angle;
    out.q[i] = detector.efficiency() * std::cos(twice);
    out.u[i] = detector.efficiency() * std::sin(twice);
  }
}

}  // namespace skyloom
