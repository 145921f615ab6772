// SPDX-License-Identifier: BSD-3-Clause
// Fills a DeviceKernels table with the launchers of one body. Seen by .cu.
#pragma once

#include <utility>

#include "fiberloom/extract/exact/gpu/kernels.hpp"

namespace fiberloom::exact::gpu {

/// Kernels with a band, one band after the other: bodies may instantiate them in several files.
template <class Run, int I>
void fill_band(DeviceKernels& k) {
  constexpr int kB = kDeviceBands[I];
  if constexpr (kB <= kWidestOfThread) {
    k.own_solve[I] = &Run::template launch<OwnSolveKernel<kB>>;
  }
  k.sweep_terms[I] = &Run::template launch_states<SweepTermKernel<kB>>;
  if constexpr (is_wide(kB)) {
    k.own_factor[I] = &Run::template launch_blocks<WideOwnFactorKernel<kB>>;
    k.sweep_factor[I] = &Run::template launch_blocks<WideSweepFactorKernel<kB>>;
    k.trial[I] = &Run::template launch_blocks<WideProofKernel<kB>>;
    k.alternate[I] = &Run::template launch_blocks<WideAlternateKernel<kB>>;
    k.pole[I] = &Run::template launch_crowd<WidePoleKernel<kB>>;
  } else {
    k.own_factor[I] = &Run::template launch<OwnFactorKernel<kB>>;
    k.sweep_factor[I] = &Run::template launch<SweepFactorKernel<kB>>;
    k.factor[I] = &Run::template launch<RootFactorKernel<kB, true>>;
    k.trial[I] = &Run::template launch<RootFactorKernel<kB, false>>;
    k.alternate[I] = &Run::template launch<RootAlternateKernel<kB>>;
    k.pole[I] = &Run::template launch_states<PoleKernel<kB>>;
  }
}

/// All of them, where one file does.
template <class Run, int... I>
void fill_bands(DeviceKernels& k, std::integer_sequence<int, I...>) {
  (fill_band<Run, I>(k), ...);
}
template <class Run>
void fill_bands(DeviceKernels& k) {
  fill_bands<Run>(k, std::make_integer_sequence<int, kBandCount>());
}

template <class Run, std::size_t... I>
void fill_tiles(DeviceKernels& k, std::index_sequence<I...>) {
  ((k.tiles[I] =
        &Run::template launch_crowd<TileKernel<kDeviceTiles[I].core, kDeviceTiles[I].halo>>),
   ...);
}

template <class Run>
void fill_common(DeviceKernels& k) {
  k.spots = &Run::template launch_blocks<DesiSpotsKernel>;
  k.spots_any = &Run::template launch<AnySpotsKernel>;
  k.transpose_f = &Run::template launch_blocks<TransposeKernel<float>>;
  k.transpose_d = &Run::template launch_blocks<TransposeKernel<double>>;
  k.weigh = &Run::template launch<WeighKernel>;
  k.product = &Run::template launch<ProductKernel>;
  fill_tiles<Run>(k, std::make_index_sequence<kTileShapes>());
  k.median = &Run::template launch_blocks<MedianKernel>;
  k.prior = &Run::template launch<PriorKernel>;
  k.apply = &Run::template launch<ApplyKernel>;
  k.dot = &Run::template launch<DotKernel>;
  k.activate = &Run::template launch<CgActivateKernel>;
  k.residual = &Run::template launch<CgResidualKernel>;
  k.begin = &Run::template launch_blocks<CgSumKernel<CgBegin>>;
  k.step = &Run::template launch_blocks<CgSumKernel<CgStep>>;
  k.move = &Run::template launch<CgMoveKernel>;
  k.next = &Run::template launch_blocks<CgSumKernel<CgNext>>;
  k.direction = &Run::template launch<CgDirectionKernel>;
  k.sweep_begin = &Run::template launch<SweepBeginKernel>;
  k.sweep_light = &Run::template launch<SweepLightKernel>;
  k.sweep_merge = &Run::template launch<SweepMergeKernel>;
  k.narrow = &Run::template launch<RootNarrowKernel>;
  k.rows = &Run::template launch<RootRowsKernel>;
  k.high = &Run::template launch<RootHighKernel>;
  k.guess = &Run::template launch<RootGuessKernel>;
  k.prove = &Run::template launch<RootProveKernel>;
  k.weight = &Run::template launch<RootWeightKernel>;
  k.truncation = &Run::template launch<RootTruncationKernel>;
  k.worst = &Run::template launch<RootWorstKernel>;
  k.poles = &Run::template launch<RootPolesKernel>;
  k.pole_sum = &Run::template launch_blocks<PoleSumKernel>;
  k.leave_beyond = &Run::template launch<LeaveBeyondKernel>;
  k.leave_mark = &Run::template launch<LeaveMarkKernel>;
  k.leave_out = &Run::template launch<LeaveOutKernel>;
  k.leave_union = &Run::template launch<LeaveUnionKernel>;
  k.take = &Run::template launch<RootTakeKernel>;
  k.scatter = &Run::template launch_blocks<ScatterKernel>;
  k.seam = &Run::template launch<SeamKernel>;
  k.light = &Run::template launch<LightKernel>;
  k.chi2 = &Run::template launch<Chi2Kernel>;
  k.gather = &Run::template launch<GatherKernel>;
  k.fit = &Run::template launch_blocks<FitKernel>;
  k.fit_sum = &Run::template launch<FitSumKernel>;
}

}  // namespace fiberloom::exact::gpu
