// SPDX-License-Identifier: BSD-3-Clause
// The two inner loops of wings.cpp, one pair for each ISA level: Gaussians in lanes along the rows,
// rows in lanes along the columns.
#pragma once

#include "fiberloom/foundation.hpp"
#include "loom/simd/isa.hpp"

namespace fiberloom {

/// Gaussians that a wing is the sum of at most; exp(-rate d^2) at a distance of d pixels.
inline constexpr int kWingTerms = kFloatLanes;

/// A bin's light, row by row and up to `reach` rows away: into `near` in its stamp's rows, into
/// `far` beyond. All [rows][kWingTerms].
struct WingRows {
  float *near, *far;
  float* beside;       ///< as `near`, of rows in which another column is nearest to the trace
  const int* nearest;  ///< [rows] the column nearest to the trace
  int* other;          ///< [rows] that of the bins whose light is in `beside`
  int rows;            ///< of the CCD
  int half, reach;     ///< of the stamp, and of the wing
};
struct WingBin {
  int row, column;     ///< nearest to its centre
  float offset;        ///< that row minus the centre
  const float* light;  ///< of each term
  const float* rate;
};
using SpreadAlongRows = void (*)(const WingRows& to, const WingBin& bin);

/// kFloatLanes rows on end, light [kWingTerms][kFloatLanes] of each kind. Adds to columns
/// [low, high) of `to`, [column][pitch].
struct WingColumns {
  float* to;
  long pitch;
  int low, high;
  int middle;  ///< column near which the traces lie
  int slant;   ///< and how far from it `nearest` and `other` may
  int half, reach;
  const float* offset;           ///< [row] middle minus the trace
  const float *nearest, *other;  ///< [row] columns as above, minus middle
  const float *near, *far, *beside;
  const float* rate;
  int terms;  ///< of them
};
/// `scratch`: 4 (high - low) kFloatLanes floats.
using SpreadAlongColumns = void (*)(const WingColumns& columns, float* scratch);

struct WingKernels {
  SpreadAlongRows rows;
  SpreadAlongColumns columns;
};
[[nodiscard]] const WingKernels& wing_kernels(Isa isa);

}  // namespace fiberloom
