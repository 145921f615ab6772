// SPDX-License-Identifier: BSD-3-Clause
// Where a detector looks, sample by sample: pixels of the sky and the angle of polarisation there,
// from the boresight's quaternions. Neither angles nor their sines are computed: cos 2a and sin 2a
// are rational in the quaternion.
#pragma once

#include <cstddef>
#include <span>

#include "loom/simd/isa.hpp"
#include "skyloom/pixels/healpix.hpp"
#include "skyloom/pointing/expand_lane.hpp"
#include "skyloom/pointing/focal_plane.hpp"
#include "skyloom/pointing/satellite.hpp"
#include "skyloom/pointing/sky_grid.hpp"

namespace skyloom {

/// A stretch of one detector's samples: pixel of the grid (NESTED) and weights 1, q, u: signal = I
/// + q Q + u U.
struct Pointing {
  std::span<Pixel> pixels;
  std::span<double> q, u;
};

/// Samples [first, first + pointing.pixels.size()) of the boresight, seen by a detector; behind a
/// half-wave plate where the boresight has one: with 2 a of the detector as it stands,
/// q = eta cos(4 (gamma - h) - 2 a), u = -eta sin(4 (gamma - h) - 2 a), as TOAST has it. Angles in
/// the convention COSMO (HEALPix's), as TOAST's default. Weights to some eps; a pixel differs from
/// SkyGrid::pixel() where the direction lies on its border to some eps alone; -1: it is outside a
/// flat grid. Some 5 ns a sample and less.
void expand_pointing(const Boresight& boresight, std::size_t first, const Detector& detector,
                     const SkyGrid& grid, const Pointing& out, Isa isa = active_isa());

/// What a device's threads are told of the same; arrays are the host's.
[[nodiscard]] ExpandView expand_view(const Boresight& boresight, std::size_t first,
                                     const Detector& detector, const SkyGrid& grid,
                                     const Pointing& out);

/// The same, sample by sample with the library's functions: the oracle.
void expand_pointing_reference(const Boresight& boresight, std::size_t first,
                               const Detector& detector, const SkyGrid& grid, const Pointing& out);

}  // namespace skyloom
