// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/pointing/expand.hpp"

#include <cmath>

#include "loom/simd/isa_tables.hpp"
#include "skyloom/pointing/expand_kernels.hpp"

namespace skyloom {

LOOM_ISA_TABLES(ExpandKernels, kExpand, expand_kernels)

void expand_pointing(const Boresight& boresight, std::size_t first, const Quaternion& place,
                     double efficiency, const Healpix& sky, const Pointing& out, Isa isa) {
  expand_kernels(isa).expand({.x = boresight.row(0) + first,
                              .y = boresight.row(1) + first,
                              .z = boresight.row(2) + first,
                              .w = boresight.row(3) + first,
                              .place = {place.x, place.y, place.z, place.w},
                              .efficiency = efficiency,
                              .order = sky.order(),
                              .samples = out.pixels.size(),
                              .pixels = out.pixels.data(),
                              .q = out.q.data(),
                              .u = out.u.data()});
}

void expand_pointing_reference(const Boresight& boresight, std::size_t first,
                               const Quaternion& place, double efficiency, const Healpix& sky,
                               const Pointing& out) {
  for (std::size_t i = 0; i < out.pixels.size(); ++i) {
    const Quaternion q = quaternion_at(boresight, first + i) * place;
    const Direction to{2 * (q.x * q.z + q.w * q.y), 2 * (q.y * q.z - q.w * q.x),
                       1 - 2 * (q.x * q.x + q.y * q.y)};
    out.pixels[i] = sky.nested(to);
    // the angle from the meridian (southward) to the axis x of the detector, east being positive
    const double angle = std::atan2(2 * (q.y * q.z + q.w * q.x), -2 * (q.x * q.z - q.w * q.y));
    out.q[i] = efficiency * std::cos(2 * angle);
    out.u[i] = efficiency * std::sin(2 * angle);
  }
}

}  // namespace skyloom
