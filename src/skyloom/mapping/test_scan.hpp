// SPDX-License-Identifier: BSD-3-Clause
// For tests: a few detectors of a satellite, a smooth sky, and their samples both plain and
// compressed.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "loom/base/rng.hpp"
#include "skyloom/mapping/offset_system.hpp"
#include "skyloom/mapping/plain_system.hpp"
#include "skyloom/pointing/expand.hpp"
#include "skyloom/pointing/focal_plane.hpp"

namespace skyloom::test {

inline Stokes smooth_sky(const Healpix& sky, Pixel pixel) {
  const Direction to = sky.centre(pixel);
  return {1 + 2 * to.z + to.x * to.y, 0.3 * to.x - 0.1 * to.z * to.z, 0.2 * to.y * to.z};
}

struct ScanShape {
  std::int64_t nside = 16;
  std::size_t samples = 6000, step = 50;
  double offsets = 0;  ///< size of random constants, one a baseline
  double noise = 0;
};

/// Seven pairs that spin fast, so that every pixel is seen at many angles.
inline std::vector<PlainStream> scan(const ScanShape& shape) {
  const Healpix sky(shape.nside);
  const FocalPlane plane = hexagon({.pixels = 7, .width_deg = 20, .leakage = 0.05});
  const SatelliteScan way{.spin_minutes = 1.3, .precession_minutes = 17, .year_days = 0};
  const Boresight boresight = satellite_boresight(way, 5, 0, shape.samples);
  std::vector<PlainStream> out;
  for (std::size_t d = 0; d < plane.detectors.size(); ++d) {
    const Detector& detector = plane.detectors[d];
    PlainStream stream;
    stream.step = shape.step;
    stream.weight = 1 + 0.1 * static_cast<double>(d);
    stream.pixels.resize(shape.samples);
    stream.q.resize(shape.samples);
    stream.u.resize(shape.samples);
    expand_pointing(boresight, 0, detector, sky, {stream.pixels, stream.q, stream.u});
    const CounterRng offsets(1, d), noise(2, d);
    for (std::size_t i = 0; i < shape.samples; ++i) {
      const Stokes at = smooth_sky(sky, stream.pixels[i]);
      const std::size_t baseline = shape.step == 0 ? 0 : i / shape.step;
      stream.signal.push_back(at.i + stream.q[i] * at.q + stream.u[i] * at.u +
                              shape.offsets * offsets.normal(baseline) +
                              shape.noise * noise.normal(i));
    }
    out.push_back(std::move(stream));
  }
  return out;
}

/// In blocks of odd sizes, as they may come.
inline std::vector<Stream> compressed(const Healpix& sky, const std::vector<PlainStream>& plain) {
  std::vector<Stream> out;
  for (const PlainStream& stream : plain) {
    RunBuilder builder(TileGrid(sky), stream.step, stream.weight);
    const std::size_t all = stream.pixels.size();
    for (std::size_t first = 0, n = 1; first < all; first += n, n = n * 2 + 1) {
      n = std::min(n, all - first);
      const auto part = [&](const auto& values) { return std::span(values).subspan(first, n); };
      SampleBlock block{part(stream.pixels), part(stream.q), part(stream.u), part(stream.signal)};
      if (!stream.flags.empty()) block.flags = part(stream.flags);
      builder.add(block);
    }
    out.push_back(builder.finish());
  }
  return out;
}

/// The system of these streams, whose samples are added to `sums`.
inline OffsetSystem system_of(SkySums& sums, const Healpix& sky,
                              const std::vector<PlainStream>& plain, Executor& executor,
                              const SolveOptions& options = {.least_reciprocal = 1e-3}) {
  std::vector<Stream> streams = compressed(sky, plain);
  sums.add(streams, executor);
  return {sums, streams, options, executor};
}

}  // namespace skyloom::test
