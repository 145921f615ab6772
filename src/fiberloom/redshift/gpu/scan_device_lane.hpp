// SPDX-License-Identifier: BSD-3-Clause
// A fast scan on a device: the CPU's texts (products_lane.hpp, solve_lane.hpp, evidence_lane.hpp)
// with a redshift a thread, and the CPU's layouts, in which kLanes redshifts lie side by side.
// Seen by host code and by .cu: plain data only.
#pragma once

#include "fiberloom/redshift/evidence_lane.hpp"
#include "fiberloom/redshift/products_lane.hpp"
#include "fiberloom/redshift/solve_lane.hpp"

namespace fiberloom::redshift::gpu {

/// Pixels of a tile: target.hpp's kReachTile, which no card needs to know (device_scan.cpp checks).
inline constexpr int kTileRows = 64;

/// The pixels of all grids one after the other, each grid in whole tiles.
struct Tiles {
  int count = 0, ndiag = 1;
  const int* first = nullptr;    ///< [count]: of its first pixel, where R's row begins in a pack
  const int* pixels = nullptr;   ///< [count]: so many belong to the grid, the others are none
  const double* rows = nullptr;  ///< mean resolution [count][kTileRows][ndiag]
};

/// A number's place: a thread is (pack, element of a pack, lane).
struct PackThread {
  long pack, element;
  int lane;
  FL_LANE_HD static PackThread of(long thread, long elements) {
    const long rest = thread / kLanes;
    return {rest / elements, rest % elements, static_cast<int>(thread % kLanes)};
  }
};

struct ProductArgs {
  Tiles tiles;
  int nb = 0;
  long pack_doubles = 0;
  const double* sampled = nullptr;  ///< the template on the pixels, [pack][pack_doubles]
  const double* scale = nullptr;    ///< [nb]: FastScan::Scales::of_vector
  float* columns = nullptr;         ///< [pack][tile][groups of columns][kTileRows][6][kLanes]
};

/// Columns of products of a tile, in floats.
[[nodiscard]] FL_LANE_HD constexpr long columns_of_tile(int nb) noexcept {
  return static_cast<long>(column_groups(triangle(nb)) + column_groups(nb)) * kTileRows *
         kGatherColumns * kLanes;
}

/// Blurred vectors of a pixel, and their products. Threads: packs x pixels x kLanes. NB: vectors, 0
/// where any number.
template <int NB>
struct ScanProductKernel {
  using Args = ProductArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    using V = ScalarLane;
    const auto [pack, pixel, l] =
        PackThread::of(thread, static_cast<long>(a.tiles.count) * kTileRows);
    const int tile = static_cast<int>(pixel / kTileRows), i = static_cast<int>(pixel % kTileRows);
    const int nb = NB > 0 ? NB : a.nb, ndiag = a.tiles.ndiag;
    V b[NB > 0 ? NB : kMostBasis];
    for (V& v : b) v = V(0.0);
    if (i < a.tiles.pixels[tile]) {
      const double* const t = a.sampled + pack * a.pack_doubles +
                              static_cast<long>(a.tiles.first[tile] + i) * nb * kLanes + l;
      lane::blur_pixel<V, NB>(nb, ndiag, a.tiles.rows + pixel * ndiag, t, b);
    }
    float* const out = a.columns + (pack * a.tiles.count + tile) * columns_of_tile(nb) + l;
    float* const of_b =
        out + static_cast<long>(column_groups(triangle(nb))) * kTileRows * kGatherColumns * kLanes;
    lane::product_pixel<V>(
        nb, [&](int k) { return b[k] * V(a.scale[k]); },
        [&](int column) { return out + lane::column_at(column, i, kTileRows); },
        [&](int column) { return of_b + lane::column_at(column, i, kTileRows); });
  }
};

struct GatherArgs {
  int tiles = 0, nb = 0;
  int target_groups = 0;                 ///< of kGatherTargets
  const float* weight = nullptr;         ///< [tile][group][kTileRows][kGatherTargets]
  const float* weighted_flux = nullptr;  ///< likewise
  const double* weight_unit = nullptr;   ///< [target]: FastScan::weight_unit()
  const double* flux_unit = nullptr;     ///< likewise
  const double* column_unit = nullptr;   ///< [normal_size]: FastScan::Scales::unit
  const float* columns = nullptr;
  const int* reached = nullptr;  ///< [pack][tile]: pixels that count
  double* normal = nullptr;      ///< [pack][target][normal_size][kLanes]
};

/// Sums over all pixels: four targets by six columns of products a thread. Threads: packs x groups
/// of columns x groups of targets x kLanes; neighbours have the same columns, which they read once.
struct ScanSumKernel {
  using Args = GatherArgs;
  FL_LANE_HD static long elements(const Args& a) {
    return static_cast<long>(column_groups(triangle(a.nb)) + column_groups(a.nb)) * a.target_groups;
  }
  FL_LANE_HD static void run(long thread, const Args& a) {
    const auto [pack, element, l] = PackThread::of(thread, elements(a));
    const int group = static_cast<int>(element % a.target_groups);
    const int c = static_cast<int>(element / a.target_groups);
    const int pairs = triangle(a.nb), pair_groups = column_groups(pairs);
    const bool is_pair = c < pair_groups;
    const int first = kGatherColumns * (is_pair ? c : c - pair_groups);
    const int left = (is_pair ? pairs : a.nb) - first;
    const int columns = left < kGatherColumns ? left : kGatherColumns;
    const Sums sums{a,
                    is_pair ? a.weight : a.weighted_flux,
                    is_pair ? a.weight_unit : a.flux_unit,
                    pack,
                    group,
                    c,
                    l,
                    first + (is_pair ? 0 : pairs)};
    lane::with_columns(columns, [&]<int N>() { sums.template run<N>(); });
  }

 private:
  struct Sums {
    const Args& a;
    const float* value;
    const double* unit;
    long pack;
    int group, c, l, to;
    template <int columns>
    FL_LANE_HD void run() const {
      using V = FloatLane;
      double sum[kGatherTargets * columns];
      FL_UNROLL_ALL
      for (double& s : sum) s = 0;
      constexpr long kValues = kTileRows * kGatherTargets;
      constexpr long kColumns = static_cast<long>(kTileRows) * kGatherColumns * kLanes;
      const long tile_columns = columns_of_tile(a.nb);
      const float* from = a.columns + pack * a.tiles * tile_columns + c * kColumns + l;
      const float* v = value + group * kValues;
      for (int tile = 0; tile < a.tiles; ++tile) {
        V part[kGatherTargets * columns];
        FL_UNROLL_ALL
        for (V& s : part) s = V(0.0);
        lane::gather_tile<V, columns, kGatherTargets>(a.reached[pack * a.tiles + tile], v, from,
                                                      part);
        FL_UNROLL_ALL
        for (int k = 0; k < kGatherTargets * columns; ++k) sum[k] += static_cast<double>(part[k].v);
        from += tile_columns;
        v += a.target_groups * kValues;
      }
      const long doubles = static_cast<long>(normal_size(a.nb)) * kLanes;
      const long target = (pack * a.target_groups + group) * kGatherTargets;
      double* const out = a.normal + target * doubles + static_cast<long>(to) * kLanes + l;
      FL_UNROLL
      for (int t = 0; t < kGatherTargets; ++t) {
        FL_UNROLL
        for (int k = 0; k < columns; ++k) {
          out[t * doubles + k * kLanes] =
              sum[t * columns + k] * (a.column_unit[to + k] * unit[group * kGatherTargets + t]);
        }
      }
    }
  };
};

struct SolveArgs {
  int nb = 0, components = 0;
  long targets = 0;                  ///< with those that fill the last group up
  const double* normal = nullptr;    ///< [pack][target][normal_size][kLanes]
  const double* table = nullptr;     ///< EvidenceTable::numbers
  const double* constant = nullptr;  ///< EvidenceTable::constant
  double* parts = nullptr;           ///< [pack][target][components][kBrightnesses][3][kLanes]
  double* out = nullptr;  ///< [pack][target][2 + nb][kLanes]: gain, evidence, coefficients
};

/// Coefficients, what they explain, and evidence. Threads: packs x targets x kLanes.
template <int NB>
struct ScanSolveKernel {
  using Args = SolveArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    using V = ScalarLane;
    const auto [pack, target, l] = PackThread::of(thread, a.targets);
    const int nb = NB > 0 ? NB : a.nb;
    const long element = pack * a.targets + target;
    const double* const normal = a.normal + element * normal_size(nb) * kLanes + l;
    double* const out = a.out + element * (2 + nb) * kLanes + l;
    double rank = 0, evidence = 0;
    if (a.components > 0) {
      double* const parts = a.parts + element * a.components * kBrightnesses * 3 * kLanes + l;
      lane::evidence<V, NB>(nb, normal, a.components, a.table, parts);
      evidence = lane::evidence_sum(a.components, a.constant, parts);
    }
    lane::solve<V, NB>(nb, normal, kLeastGatheredPivot, out, out + 2 * kLanes, &rank);
    out[kLanes] = evidence;
  }
};

}  // namespace fiberloom::redshift::gpu
