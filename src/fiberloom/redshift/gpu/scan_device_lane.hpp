// SPDX-License-Identifier: BSD-3-Clause
// A fast scan on a device: the CPU's texts (products_lane.hpp, sky_lane.hpp, solve_lane.hpp,
// evidence_lane.hpp) with a redshift a thread, and the CPU's layouts, in which kLanes redshifts lie
// side by side. Seen by host code and by .cu: plain data only.
#pragma once

#include "fiberloom/redshift/evidence_lane.hpp"
#include "fiberloom/redshift/products_lane.hpp"
#include "fiberloom/redshift/sky_lane.hpp"
#include "fiberloom/redshift/solve_lane.hpp"
#include "loom/device/copy_16.hpp"

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

/// Numbers that a template has for itself; all packs of a launch have them at the same place behind
/// the first of their template.
struct OwnNumbers {
  const double* all = nullptr;
  const int* first = nullptr;  ///< [pack]
  int at = 0;
  [[nodiscard]] FL_LANE_HD const double* of(long pack) const { return all + first[pack] + at; }
};

struct ProductArgs {
  Tiles tiles;
  int nb = 0;
  long pack_doubles = 0;
  const double* sampled = nullptr;  ///< the template on the pixels, [pack][pack_doubles]
  OwnNumbers scale;                 ///< [nb]: FastScan::Scales::of_vector
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
    const double* const scale = a.scale.of(pack);
    lane::product_pixel<V>(
        nb, [&](int k) { return b[k] * V(scale[k]); },
        [&](int column) { return out + lane::column_at(column, i, kTileRows); },
        [&](int column) { return of_b + lane::column_at(column, i, kTileRows); });
  }
};

/// Columns of sums of a fit: its normal equations, then u of each term of the sky's continuum, as
/// Fitter::normal_doubles() has them.
[[nodiscard]] FL_LANE_HD constexpr int sum_columns(int nb, int sky_terms) noexcept {
  return normal_size(nb) + sky_terms * nb;
}

struct GatherArgs {
  int tiles = 0, nb = 0, sky_terms = 0;
  int target_groups = 0;                 ///< of kGatherTargets
  const float* weight = nullptr;         ///< [tile][group][kTileRows][kGatherTargets]
  const float* weighted_flux = nullptr;  ///< likewise
  const double* weight_unit = nullptr;   ///< [target]: FastScan::weight_unit()
  const double* flux_unit = nullptr;     ///< likewise
  OwnNumbers column_unit;                ///< [normal_size]: FastScan::Scales::unit
  const float* columns = nullptr;
  /// [pack][1 + sky_terms][tile]: pixels that count, of all grids and of each term's alone.
  const unsigned char* reached = nullptr;
  double* normal = nullptr;  ///< [pack][target][sum_columns][kLanes]
};

/// Four numbers that are loaded as one.
struct alignas(16) Four {
  float v[4];
  [[nodiscard]] FL_LANE_HD static Four load(const float* p) {
#if defined(__CUDA_ARCH__)
    const float4 four = *reinterpret_cast<const float4*>(p);
    return {{four.x, four.y, four.z, four.w}};
#else
    return {{p[0], p[1], p[2], p[3]}};
#endif
  }
};

/// Sums over all pixels: a product of matrices, weights of targets times columns of products. A
/// block has a group of columns of a pack and kTargets targets. Half a tile of both goes to shared
/// memory while the half before is summed, so that nobody waits for the card's memory, and a thread
/// has eight targets by four redshifts of a column: three loads of 16 bytes for 32 fmas. The sums
/// of a tile are floats, those of tiles doubles, in the CPU's order.
struct ScanSumKernel {
  using Args = GatherArgs;
  static constexpr int kGroups = 16;  ///< of targets, in a block
  static constexpr int kRows = kTileRows / 2;
  static constexpr int kHalves = 2, kOctets = kGroups / 2, kQuad = 4, kTogether = 4;
  static constexpr int kThreads = kGatherColumns * kHalves * kOctets;
  static constexpr int kBlocks = 4;  ///< on a multiprocessor: up to 168 registers a thread
  static constexpr int kColumnFloats = kRows * kGatherColumns * kLanes;
  /// A group's weights, and 16 bytes, so that groups side by side lie in banks of their own.
  static constexpr int kGroupFloats = kRows * kGatherTargets + 4;
  static constexpr int kSideFloats = kColumnFloats + kGroups * kGroupFloats;
  static_assert(kLanes == kHalves * kQuad && kGatherTargets == kQuad);

  struct State {
    float part[2 * kGatherTargets * kQuad];
    double sum[2 * kGatherTargets * kQuad];
    int rows, rows_before;  ///< pixels of half a tile that count: of the next one and of this one
  };
  static std::size_t shared_bytes(const Args&) { return 2 * kSideFloats * sizeof(float); }
  FL_LANE_HD static int phases(const Args& a) { return a.tiles * (kTileRows / kRows) + 1; }
  FL_LANE_HD static int target_blocks(const Args& a) {
    return (a.target_groups + kGroups - 1) / kGroups;
  }
  FL_LANE_HD static int groups_of_columns(const Args& a) {
    return column_groups(triangle(a.nb)) + (1 + a.sky_terms) * column_groups(a.nb);
  }
  /// Blocks of a pack.
  FL_LANE_HD static long blocks(const Args& a) {
    return static_cast<long>(groups_of_columns(a)) * target_blocks(a);
  }

  FL_LANE_HD static void run(int phase, long block, int thread, const Args& a, double* shared,
                             State& s) {
    const Place place(block, a);
    auto* const sides = reinterpret_cast<float*>(shared);
    const int last = phases(a) - 1;
    if (phase == 0) s.rows = rows_of(0, a, place);
    // asked for a phase before it is used, so that nobody waits
    const int next = phase + 1 < last ? rows_of(phase + 1, a, place) : 0;
    if (phase < last) copy(phase, s.rows, thread, a, place, sides + phase % 2 * kSideFloats);
    if (phase > 0) {
      add(phase - 1, s.rows_before, thread, place, sides + (phase - 1) % 2 * kSideFloats, s);
    }
    s.rows_before = s.rows;
    s.rows = next;
    if (phase == last) write(thread, a, place, s);
  }

 private:
  /// What a block sums: weight x products (kPairs), weight x flux x B (kFlux), or, of a term of the
  /// sky's continuum (from 1 on), weight x B of the pixels of a grid.
  static constexpr int kPairs = -1, kFlux = 0;
  struct Place {
    int pack, c, targets, columns, what;  ///< group of columns; first group of targets; columns
    FL_LANE_HD Place(long block, const Args& a) {
      targets = static_cast<int>(block % target_blocks(a)) * kGroups;
      block /= target_blocks(a);
      c = static_cast<int>(block % groups_of_columns(a));
      pack = static_cast<int>(block / groups_of_columns(a));
      const int pair_groups = column_groups(triangle(a.nb)), of_b = column_groups(a.nb);
      what = c < pair_groups ? kPairs : (c - pair_groups) / of_b;
      c -= term() * of_b;
      const int left = what == kPairs ? triangle(a.nb) - kGatherColumns * c
                                      : a.nb - kGatherColumns * (c - pair_groups);
      columns = left < kGatherColumns ? left : kGatherColumns;
    }
    /// 0: of no term, but of all pixels.
    [[nodiscard]] FL_LANE_HD int term() const { return what > 0 ? what : 0; }
    /// Its first column among those of Args::column_unit.
    [[nodiscard]] FL_LANE_HD int first(const Args& a) const {
      const int pairs = triangle(a.nb);
      return kGatherColumns * c +
             (what == kPairs ? 0 : pairs - kGatherColumns * column_groups(pairs));
    }
  };
  /// Pixels of half a tile that count.
  FL_LANE_HD static int rows_of(int half, const Args& a, const Place& place) {
    const int row = place.pack * (1 + a.sky_terms) + place.term();
    const int left = a.reached[row * a.tiles + half / 2] - half % 2 * kRows;
    return left < 0 ? 0 : left < kRows ? left : kRows;
  }

  FL_LANE_HD static void copy(int half, int rows, int thread, const Args& a, const Place& place,
                              float* side) {
    const int tile = half / 2, from_row = half % 2 * kRows;
    constexpr int kPieces = kGatherColumns * kLanes / kQuad;  // of a pixel
    const float* const columns =
        a.columns + static_cast<long>(place.pack * a.tiles + tile) * columns_of_tile(a.nb) +
        (static_cast<long>(place.c) * kTileRows + from_row) * kGatherColumns * kLanes;
    const int pieces = thread % kPieces < place.columns * kHalves ? rows * kPieces : 0;
    FL_UNROLL_ALL
    for (int m = 0; m < kRows * kPieces / kThreads; ++m) {
      const int k = thread + m * kThreads;
      if (k < pieces) copy_16(side + k * kQuad, columns + k * kQuad);
    }
    constexpr int kAtOnce = kThreads / kRows;  // groups of targets
    const int row = thread % kRows, group = thread / kRows;
    const long at = static_cast<long>(tile) * a.target_groups + place.targets + group;
    const float* const weights = (place.what == kFlux ? a.weighted_flux : a.weight) +
                                 (at * kTileRows + from_row + row) * kGatherTargets;
    float* const to = side + kColumnFloats + group * kGroupFloats + row * kGatherTargets;
    const int left = a.target_groups - place.targets, most = left < kGroups ? left : kGroups;
    const int groups = row < rows ? most - group : 0;
    FL_UNROLL_ALL
    for (int m = 0; m < kGroups; m += kAtOnce) {
      if (m < groups) copy_16(to + m * kGroupFloats, weights + m * kTileRows * kGatherTargets);
    }
  }

  FL_LANE_HD static int column_of(int thread) { return thread / (kHalves * kOctets); }
  FL_LANE_HD static int octet_of(int thread) { return thread / kHalves % kOctets; }

  FL_LANE_HD static void add(int half, int rows, int thread, const Place& place, const float* side,
                             State& s) {
    const int column = column_of(thread), octet = octet_of(thread);
    if (column >= place.columns) return;
    const float* const x = side + column * kLanes + thread % kHalves * kQuad;
    const float* const low = side + kColumnFloats + octet * kGroupFloats;
    const float* const high = low + kOctets * kGroupFloats;
    const int together = rows / kTogether * kTogether;
    add_rows<kTogether>(0, together, x, low, high, s.part);
    add_rows<1>(together, rows, x, low, high, s.part);
    if (half % 2 == 0) return;
    FL_UNROLL_ALL
    for (int k = 0; k < 2 * kGatherTargets * kQuad; ++k) {
      s.sum[k] += static_cast<double>(s.part[k]);
      s.part[k] = 0;
    }
  }

  template <int Step>
  FL_LANE_HD static void add_rows(int first, int end, const float* x, const float* low,
                                  const float* high, float* part) {
    FL_NO_UNROLL
    for (int i = first; i < end; i += Step) {
      FL_UNROLL_ALL
      for (int j = i; j < i + Step; ++j) {
        add_row(Four::load(x + j * kGatherColumns * kLanes), Four::load(low + j * kGatherTargets),
                part);
        add_row(Four::load(x + j * kGatherColumns * kLanes), Four::load(high + j * kGatherTargets),
                part + kGatherTargets * kQuad);
      }
    }
  }
  FL_LANE_HD static void add_row(const Four& column, const Four& weights, float* part) {
    FL_UNROLL_ALL
    for (int t = 0; t < kGatherTargets; ++t) {
      FL_UNROLL_ALL
      for (int l = 0; l < kQuad; ++l) {
        float& to = part[t * kQuad + l];
        to = weights.v[t] * column.v[l] + to;
      }
    }
  }

  FL_LANE_HD static void write(int thread, const Args& a, const Place& place, const State& s) {
    const int column = column_of(thread);
    if (column >= place.columns) return;
    const int first = place.first(a) + column;
    const int to = first + place.term() * a.nb;
    const double column_unit = a.column_unit.of(place.pack)[first];
    const double* const unit = place.what == kFlux ? a.flux_unit : a.weight_unit;
    const long doubles = static_cast<long>(sum_columns(a.nb, a.sky_terms)) * kLanes;
    FL_UNROLL_ALL
    for (int t = 0; t < 2 * kGatherTargets; ++t) {
      const int group = place.targets + octet_of(thread) + t / kGatherTargets * kOctets;
      if (group >= a.target_groups) continue;
      const int target = group * kGatherTargets + t % kGatherTargets;
      double* const out =
          a.normal +
          static_cast<long>(place.pack * a.target_groups * kGatherTargets + target) * doubles +
          static_cast<long>(to) * kLanes + thread % kHalves * kQuad;
      FL_UNROLL_ALL
      for (int l = 0; l < kQuad; ++l) out[l] = s.sum[t * kQuad + l] * (column_unit * unit[target]);
    }
  }
};

struct SolveArgs {
  int nb = 0, components = 0, sky_terms = 0;
  long targets = 0;          ///< with those that fill the last group up
  double* normal = nullptr;  ///< [pack][target][sum_columns][kLanes]; the sky is taken out in place
  const double* sky = nullptr;  ///< [target][sky_terms][2]: SkyTerm
  OwnNumbers table;             ///< EvidenceTable::numbers
  OwnNumbers constant;          ///< EvidenceTable::constant
  double* parts = nullptr;      ///< [pack][target][components][kBrightnesses][3][kLanes]
  double* out = nullptr;        ///< [pack][target][2 + nb][kLanes]: gain, evidence, coefficients
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
    double* const normal = a.normal + element * sum_columns(nb, a.sky_terms) * kLanes + l;
    for (int term = 0; term < a.sky_terms; ++term) {
      const double* const sky = a.sky + (target * a.sky_terms + term) * 2;
      lane::take_out<V>(nb, normal + static_cast<long>(normal_size(nb) + term * nb) * kLanes,
                        sky[0], sky[1], normal);
    }
    double* const out = a.out + element * (2 + nb) * kLanes + l;
    double rank = 0, evidence = 0;
    if (a.components > 0) {
      double* const parts = a.parts + element * a.components * kBrightnesses * 3 * kLanes + l;
      lane::evidence<V, NB>(nb, normal, a.components, a.table.of(pack), parts);
      evidence = lane::evidence_sum(a.components, a.constant.of(pack), parts);
    }
    lane::solve<V, NB>(nb, normal, kLeastGatheredPivot, out, out + 2 * kLanes, &rank);
    out[kLanes] = evidence;
  }
};

}  // namespace fiberloom::redshift::gpu
