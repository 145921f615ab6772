// SPDX-License-Identifier: BSD-3-Clause
// The loops of the pair A, A^T over all slices of a group, as tables of an ISA level. For
// ray_pair.cpp and *_cpu.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "loom/fft/fft.hpp"
#include "loom/simd/isa.hpp"
#include "tomoloom/foundation.hpp"

namespace tomoloom {

/// Slices side by side in an element, which is an element of fft::Plan too: 32 floats, 16 doubles.
template <class Real>
inline constexpr std::size_t kRaySlices = fft::kElement<Real>;

/// Bins that the shadow of a pixel touches: it is at most sqrt(2) wide.
inline constexpr std::size_t kShadowBins = 3;

/// The shadows of a row of square pixels at one angle: trapezoids of area 1, half_base wide at the
/// foot and half_top at the top on either side of the pixel's middle, which is at first + step i.
struct RowShadow {
  double first = 0, step = 0, half_base = 0, half_top = 0;
};

/// What falls into which bins: weight[3 i + k] of pixel i into bin[i] + k.
template <class Real>
struct ShadowTable {
  std::size_t pixels = 0, columns = 0;
  const std::int32_t* bin = nullptr;
  const Real* weight = nullptr;
};

/// What one ray meets: pixels by their place in the slice, and its weights there.
template <class Real>
struct RayEntries {
  std::size_t count = 0;
  const std::uint32_t* pixel = nullptr;
  const Real* weight = nullptr;
};

/// Lines of points, each with `rows` neighbouring rows side by side.
template <class Real>
struct RowLines {
  std::size_t points = 0, rows = 0;
  const Real* data = nullptr;
};

/// Where pixel i of a row of a slice is seen: at point first + step i of the line, and at row
/// row + row_step i beside the slice's own, which is row 0 of the first slice.
struct TiltedRow {
  double first = 0, step = 0, row = 0, row_step = 0;
};

/// Where a row of pixels finds what another slice has of them: pixel i as far as first + step i
/// along its slices, times `scale`.
struct RowSlide {
  double first = 0, step = 0, scale = 1;
};

template <class Real>
struct RayKernels {
  void (*cast)(const RowShadow& shadow, std::size_t pixels, std::int32_t* bin, Real* weight);
  /// line[bin] += weight row[pixel], of elements; bins beyond the line are dropped.
  void (*spread)(const ShadowTable<Real>& table, const Real* row, Real* line);
  /// row[pixel] += weight line[bin]: the transpose.
  void (*collect)(const ShadowTable<Real>& table, const Real* line, Real* row);
  /// What the ray sees of each slice of the group.
  void (*sum)(const RayEntries<Real>& ray, const Real* slice, Real* seen);
  /// pixel += weight step, of each slice of the group.
  void (*add)(const RayEntries<Real>& ray, const Real* step, Real* slice);
  /// row[pixel] += what lies between two points and four rows, each slice of the group from rows of
  /// its own; nothing beyond the line's ends.
  void (*collect_between)(const RowLines<Real>& lines, const TiltedRow& seen, std::size_t pixels,
                          Real* row);
  /// row[pixel] += scale times what lies between two slices of that pixel, each slice of the group
  /// from its own place on; `lines` have a point for each pixel, and slices for rows.
  void (*slide)(const RowLines<Real>& lines, const RowSlide& by, Real* row);
};

template <class Real>
[[nodiscard]] const RayKernels<Real>& ray_kernels(Isa isa);
template <>
const RayKernels<float>& ray_kernels<float>(Isa isa);
template <>
const RayKernels<double>& ray_kernels<double>(Isa isa);

}  // namespace tomoloom
