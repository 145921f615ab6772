// SPDX-License-Identifier: BSD-3-Clause
// Pointing, samples to runs and a step of the solver on a device: the CPU's texts (expand_lane.hpp,
// run_lane.hpp), with a sample, a piece of them, a pixel, a part or a baseline a thread. No thread
// writes what another one does, and every sum has the CPU's order. Seen by host code and by .cu:
// plain data only.
#pragma once

#include "loom/base/scalar_lane.hpp"
#include "skyloom/good_sample.hpp"
#include "skyloom/mapping/run_lane.hpp"
#include "skyloom/pointing/expand_lane.hpp"

namespace skyloom::gpu {

/// Pixels and weights of a detector's samples. Threads: samples.
struct ExpandKernel {
  using Args = ExpandView;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const auto i = static_cast<std::size_t>(thread);
    const lane::Look to = lane::turn_sample(a, i);
    if (a.plate_cos != nullptr) lane::turn_plate(a, i);
    if (a.kind == PixelKind::kHealpix) {
      const auto nside = static_cast<double>(1LL << a.order);
      a.pixels[i] = lane::healpix_number(lane::diagonals(to, nside), a.order);
    } else {
      const lane::Cell cell =
          a.kind == PixelKind::kCar ? lane::car_cell(to, a.flat) : lane::tan_cell(to, a.flat);
      a.pixels[i] = lane::flat_number(cell, a.flat);
    }
  }
};

/// A detector's samples in pieces, none of which reaches beyond its baseline: a thread's work.
inline constexpr std::size_t kPiece = 64;
struct SampleView {
  const std::int32_t* pixels = nullptr;  ///< -1: outside the grid, as if flagged
  const double *q = nullptr, *u = nullptr, *signal = nullptr;
  const std::uint8_t* flags = nullptr;  ///< not 0: left out
  std::size_t samples = 0, step = 1;    ///< step: samples of a baseline
  std::size_t pieces = 1;               ///< of a baseline

  [[nodiscard]] FL_LANE_HD std::size_t within(std::size_t i) const {
    return i < samples ? i : samples;
  }
  [[nodiscard]] FL_LANE_HD std::size_t begin(std::size_t piece) const {
    return within(piece / pieces * step + piece % pieces * kPiece);
  }
  [[nodiscard]] FL_LANE_HD std::size_t end(std::size_t piece) const {
    const bool last = piece % pieces + 1 == pieces;
    return last ? within((piece / pieces + 1) * step) : begin(piece + 1);
  }
  [[nodiscard]] FL_LANE_HD bool takes(std::size_t i) const {
    return pixels[i] >= 0 && takes_part(signal[i], flags[i]);
  }
};

/// What a piece has: all that its neighbours need know.
struct PieceFacts {
  std::int32_t first = -1, last = -1;  ///< pixels of the first and last sample that takes part
  std::uint32_t begun = 0;             ///< runs of the piece by itself
  std::uint32_t flagged = 0, not_finite = 0;
};

/// Threads: pieces.
struct CountArgs {
  SampleView of;
  PieceFacts* facts = nullptr;
};
struct CountKernel {
  using Args = CountArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const auto piece = static_cast<std::size_t>(thread);
    PieceFacts facts;
    for (std::size_t i = a.of.begin(piece); i < a.of.end(piece); ++i) {
      const std::int32_t pixel = a.of.pixels[i];
      if (a.of.takes(i)) {
        if (facts.first < 0) facts.first = pixel;
        if (pixel != facts.last) ++facts.begun;
        facts.last = pixel;
      } else if (a.of.flags[i] != 0 || pixel < 0) {
        ++facts.flagged;
      } else {
        ++facts.not_finite;
      }
    }
    a.facts[piece] = facts;
  }
};

/// What a piece makes: the runs that begin in it, to their ends.
struct PiecePlan {
  std::uint64_t first_run = 0;
  std::uint32_t last_piece = 0;  ///< as far as its last run goes
  std::int32_t joined = -1;  ///< the pixel of a run of an earlier piece that goes on in this one
};

/// Threads: pieces.
struct CompressArgs {
  SampleView of;
  const PiecePlan* plans = nullptr;
  Run* runs = nullptr;  ///< their places are the host's
  RunProducts* products = nullptr;
  std::int32_t* pixels = nullptr;  ///< of runs
};
struct CompressKernel {
  using Args = CompressArgs;
  FL_LANE_HD static void put(const RunSums& sums, std::int32_t pixel, std::uint64_t to,
                             const Args& a) {
    a.runs[to] = {sums.q, sums.u, static_cast<float>(sums.n), 0};
    a.products[to] = sums.products;
    a.pixels[to] = pixel;
  }
  FL_LANE_HD static void run(long thread, const Args& a) {
    const auto piece = static_cast<std::size_t>(thread);
    const PiecePlan plan = a.plans[piece];
    const std::size_t own = a.of.end(piece), end = a.of.end(plan.last_piece);
    std::uint64_t to = plan.first_run;
    std::int32_t open = -1;
    RunSums sums;
    for (std::size_t i = a.of.begin(piece); i < end; ++i) {
      if (!a.of.takes(i)) continue;
      const std::int32_t pixel = a.of.pixels[i];
      if (open < 0 && pixel == plan.joined) continue;
      if (pixel != open) {
        if (i >= own) break;
        if (open >= 0) put(sums, open, to++, a);
        open = pixel;
        sums = {};
      }
      lane::add_sample(a.of.q[i], a.of.u[i], a.of.signal[i], sums);
    }
    if (open >= 0) put(sums, open, to, a);
  }
};

/// Offsets times the weights of their samples. Threads: baselines.
struct ValueArgs {
  const double *weights = nullptr, *offsets = nullptr;
  double* values = nullptr;
};
struct ValueKernel {
  using Args = ValueArgs;
  FL_LANE_HD static void run(long baseline, const Args& a) {
    a.values[baseline] = a.weights[baseline] * a.offsets[baseline];
  }
};

/// Offsets to P^T N^-1 M a of each pixel: the runs of a pixel stand together, in the CPU's order.
/// Threads: pixels.
struct AccumulateArgs {
  const Run* runs = nullptr;
  const std::uint64_t* starts = nullptr;      ///< of each pixel's places, and an end
  const std::uint32_t* pixel_runs = nullptr;  ///< at each place: a run, and its baseline
  const std::uint32_t* pixel_baselines = nullptr;
  const double* values = nullptr;  ///< of baselines: weights times offsets
  Stokes* sums = nullptr;
};
struct AccumulateKernel {
  using Args = AccumulateArgs;
  FL_LANE_HD static void run(long pixel, const Args& a) {
    Stokes sum;
    for (std::uint64_t k = a.starts[pixel]; k < a.starts[pixel + 1]; ++k) {
      lane::add_run(a.runs[a.pixel_runs[k]], a.values[a.pixel_baselines[k]], sum);
    }
    a.sums[pixel] = sum;
  }
};

/// Sums to values of pixels, in place. Threads: pixels.
struct WeighArgs {
  const Symmetric3* inverses = nullptr;
  Stokes* pixels = nullptr;
};
struct WeighKernel {
  using Args = WeighArgs;
  FL_LANE_HD static void run(long pixel, const Args& a) {
    a.pixels[pixel] = a.inverses[pixel] * a.pixels[pixel];
  }
};

/// What the samples of a baseline in a tile see of the pixels. Threads: parts.
struct ProjectArgs {
  const Run* runs = nullptr;
  const RunPart* parts = nullptr;
  const std::uint32_t* first_pixels = nullptr;  ///< of each part: the first pixel of its tile
  const Stokes* pixels = nullptr;
  double* seen = nullptr;  ///< of each part
};
struct ProjectKernel {
  using Args = ProjectArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const RunPart& part = a.parts[thread];
    const Stokes* const tile = a.pixels + a.first_pixels[thread];
    double sum = 0;
    for (std::uint64_t k = part.first_run; k < part.first_run + part.runs; ++k) {
      sum += lane::take_run(a.runs[k], tile[a.runs[k].place]);
    }
    a.seen[thread] = sum;
  }
};

/// A baseline's row of A a from its parts. Threads: baselines.
struct CollectArgs {
  const double* seen = nullptr;
  const std::uint64_t* starts = nullptr;  ///< of each baseline's places, and an end
  const std::uint32_t* places = nullptr;
  const double *weights = nullptr, *diagonal = nullptr, *offsets = nullptr;
  double* out = nullptr;
};
struct CollectKernel {
  using Args = CollectArgs;
  FL_LANE_HD static void run(long baseline, const Args& a) {
    a.out[baseline] = lane::collect(a.diagonal[baseline] * a.offsets[baseline], a.weights[baseline],
                                    a.seen, a.places, a.starts[baseline], a.starts[baseline + 1]);
  }
};

/// Two sums over a block of kSumBlock unknowns, in their order: all threads make the products of a
/// piece side by side, then one thread for each sum adds them up one after the other.
struct BlockSums {
  static constexpr int kThreads = 256, kPiece = 1024;
  static constexpr int kPhases = 2 * kSumBlock / kPiece;
  static constexpr std::size_t kBytes = (2 * kPiece + 2) * sizeof(double);
  double* shared;  ///< the products of either, then what was summed so far
  /// product(i, to): unknown i's two, which go to to[0] and to[kPiece].
  template <class Product>
  FL_LANE_HD void add(int phase, long block, int thread, long count, double* out,
                      const Product& product) const {
    const long first = block * kSumBlock + phase / 2 * kPiece, left = count - first;
    const int n = left < 0 ? 0 : left < kPiece ? static_cast<int>(left) : kPiece;
    if (phase % 2 == 0) {
      for (int i = thread; i < n; i += kThreads) product(first + i, shared + i);
      return;
    }
    constexpr int kWarp = 32;  // neither waits for the other
    const int which = thread / kWarp;
    if (which > 1 || thread % kWarp != 0) return;
    double& so_far = shared[2 * kPiece + which];
    const double* const from = shared + which * kPiece;
    double sum = phase == 1 ? 0 : so_far;
    FL_UNROLL
    for (int i = 0; i < n; ++i) sum += from[i];
    so_far = sum;
    if (phase + 1 == kPhases) out[2 * block + which] = sum;
  }
};

/// p q of each block of unknowns. Blocks: of kSumBlock unknowns.
struct CurveArgs {
  long count = 0;
  const double *p = nullptr, *q = nullptr;
  double* sums = nullptr;  ///< [block][2]; the second is 0
};
struct CurveKernel {
  using Args = CurveArgs;
  static constexpr int kThreads = BlockSums::kThreads;
  static std::size_t shared_bytes(const Args&) { return BlockSums::kBytes; }
  FL_LANE_HD static int phases(const Args&) { return BlockSums::kPhases; }
  FL_LANE_HD static void run(int phase, long block, int thread, const Args& a, double* shared) {
    BlockSums{shared}.add(phase, block, thread, a.count, a.sums, [&](long i, double* to) {
      to[0] = a.p[i] * a.q[i];
      to[BlockSums::kPiece] = 0;
    });
  }
};

/// x += step p, r -= step q, z = r through the diagonal; r r and r z of each block of unknowns.
struct MoveArgs {
  long count = 0;
  double step = 0;
  const double *p = nullptr, *q = nullptr, *diagonal = nullptr;
  double *x = nullptr, *r = nullptr, *z = nullptr;
  double* sums = nullptr;  ///< [block][2]
};
struct MoveKernel {
  using Args = MoveArgs;
  static constexpr int kThreads = BlockSums::kThreads;
  static std::size_t shared_bytes(const Args&) { return BlockSums::kBytes; }
  FL_LANE_HD static int phases(const Args&) { return BlockSums::kPhases; }
  FL_LANE_HD static void run(int phase, long block, int thread, const Args& a, double* shared) {
    BlockSums{shared}.add(phase, block, thread, a.count, a.sums, [&](long i, double* to) {
      a.x[i] += a.step * a.p[i];
      const double r = a.r[i] + -a.step * a.q[i];
      const double z = lane::over_diagonal(r, a.diagonal[i]);
      a.r[i] = r;
      a.z[i] = z;
      to[0] = r * r;
      to[BlockSums::kPiece] = r * z;
    });
  }
};

/// p = z + factor p. Threads: unknowns.
struct TurnArgs {
  double factor = 0;
  const double* z = nullptr;
  double* p = nullptr;
};
struct TurnKernel {
  using Args = TurnArgs;
  FL_LANE_HD static void run(long i, const Args& a) { a.p[i] = a.z[i] + a.factor * a.p[i]; }
};

}  // namespace skyloom::gpu
