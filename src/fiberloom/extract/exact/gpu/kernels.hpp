// SPDX-License-Identifier: BSD-3-Clause
// The device kernels as a table of launchers, one table a body: CUDA or the CPU in its place.
#pragma once

#include "fiberloom/extract/exact/gpu/fit_lane.hpp"
#include "fiberloom/extract/exact/gpu/leave_lane.hpp"
#include "fiberloom/extract/exact/gpu/prior_lane.hpp"
#include "fiberloom/extract/exact/gpu/scatter_lane.hpp"
#include "fiberloom/extract/exact/gpu/solve_lane.hpp"
#include "fiberloom/extract/exact/gpu/stamp_lane.hpp"
#include "fiberloom/extract/exact/gpu/term_lane.hpp"
#include "fiberloom/extract/exact/gpu/tile_lane.hpp"
#include "fiberloom/extract/exact/gpu/wide_kernels_lane.hpp"
#include "loom/device/device.hpp"

namespace fiberloom::exact::gpu {

/// Of kernels of blocks: the number of blocks.
template <class Args>
using Launch = void (*)(Stream&, long threads, const Args&);

/// The bands of linalg/banded.hpp, and its first couplings (kernels_emulated.cpp checks it).
inline constexpr int kBandCount = 7;
inline constexpr int kDeviceBands[kBandCount] = {8, 12, 16, 24, 32, 48, 64};
inline constexpr int kWidestBand = kDeviceBands[kBandCount - 1], kWidestCoupling = 16;
/// The widest that fibres' own blocks may have: a thread solves with one. What needs more goes to
/// the CPU.
inline constexpr int kWidestOfThread = 32;

/// Tiles of the normal equations, what is best first: bins, and those around them.
struct TileShape {
  int core, halo;
};
inline constexpr int kTileShapes = 4;
inline constexpr TileShape kDeviceTiles[kTileShapes] = {{16, 8}, {8, 8}, {16, 16}, {16, 32}};

struct DeviceKernels {
  Launch<TransposeArgs<float>> transpose_f;
  Launch<TransposeArgs<double>> transpose_d;
  Launch<SpotArgs> spots, spots_any;
  Launch<AssembleArgs> weigh, product, tiles[kTileShapes];
  Launch<MedianArgs> median;
  Launch<PriorArgs> prior;
  Launch<CgArgs> apply, dot, activate, residual, begin, step, move, next, direction;
  Launch<CgArgs> own_factor[kBandCount], own_solve[kBandCount];
  Launch<SweepBeginArgs> sweep_begin, sweep_light;
  Launch<SweepMergeArgs> sweep_merge;
  // of wide bands with as many blocks as narrow ones have threads: factors, alternate, pole
  Launch<SweepArgs> sweep_factor[kBandCount], sweep_terms[kBandCount];
  Launch<RootArgs> narrow, rows, high, guess, prove, weight, truncation, worst;
  Launch<RootArgs> factor[kBandCount], trial[kBandCount], alternate[kBandCount];
  Launch<RootPolesArgs> poles;
  Launch<PoleArgs> pole[kBandCount], pole_sum;
  Launch<LeaveArgs> leave_beyond, leave_mark, leave_out, leave_union;
  Launch<TakeArgs> take, seam;
  Launch<ScatterArgs> scatter;
  Launch<DiagnoseArgs> light, chi2, gather;
  Launch<FitArgs> fit, fit_sum;
};

[[nodiscard]] const DeviceKernels& emulated_kernels();
/// Throws kDevice where CUDA is not compiled in.
[[nodiscard]] const DeviceKernels& cuda_kernels();

}  // namespace fiberloom::exact::gpu
