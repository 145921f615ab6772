// SPDX-License-Identifier: BSD-3-Clause
// Counts to line integrals without stripes on a device, by the CPU's texts: [angle][pixel], the
// pixels of an angle row by row, neighbouring threads on neighbouring columns. Seen by host code
// and by .cu: plain data only.
#pragma once

#include <cstdint>

#include "loom/base/scalar_lane.hpp"
#include "tomoloom/prepare/normalize_lane.hpp"
#include "tomoloom/prepare/stripe_mean_lane.hpp"

namespace tomoloom::gpu {

/// Counts of some angles -> transmissions. Threads: angles x pixels.
template <class Counts>
struct TransmitArgs {
  long pixels = 0;
  const Counts* counts = nullptr;
  const std::int32_t* set = nullptr;  ///< of each of these angles, of the gains
  const float* dark = nullptr;        ///< [set][pixel]
  const float* scale = nullptr;       ///< likewise
  float* out = nullptr;
};
template <class Counts>
struct TransmitKernel {
  using Args = TransmitArgs<Counts>;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long gain = a.set[thread / a.pixels] * a.pixels + thread % a.pixels;
    a.out[thread] =
        lane::transmission(static_cast<float>(a.counts[thread]), a.dark[gain], a.scale[gain]);
  }
};

/// The light beside the body, of each row of some angles. Threads: angles x rows.
struct BeamArgs {
  long columns = 0, air = 0;
  const float* transmissions = nullptr;
  lane::Beam* beams = nullptr;
};
struct BeamKernel {
  using Args = BeamArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    a.beams[thread] = lane::beam_of(a.transmissions + thread * a.columns, a.columns, a.air);
  }
};

/// Transmissions of some angles -> line integrals. Threads: angles x pixels.
struct LogArgs {
  long columns = 0;
  const lane::Beam* beams = nullptr;  ///< of each row; null: nothing is known of it
  float* values = nullptr;
};
struct LogKernel {
  using Args = LogArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    float value = a.values[thread];
    if (a.beams != nullptr) {
      value /= a.beams[thread / a.columns].at(static_cast<float>(thread % a.columns));
    }
    a.values[thread] = lane::minus_log_of(value);
  }
};

/// Sinograms of all angles, of which [first, end) are meant. A pixel is row x columns + column.
struct Sinograms {
  long angles = 0, rows = 0, columns = 0;
  long first = 0, end = 0;
  float* values = nullptr;
  [[nodiscard]] FL_LANE_HD long pixels() const { return rows * columns; }
};

/// The mean of each column. Threads: pixels.
struct MeanArgs {
  Sinograms of;
  double* mean = nullptr;
};
struct MeanKernel {
  using Args = MeanArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    double sum = 0;
    for (long k = a.of.first; k < a.of.end; ++k) {
      sum += static_cast<double>(a.of.values[k * a.of.pixels() + thread]);
    }
    a.mean[thread] = sum / static_cast<double>(a.of.end - a.of.first);
  }
};

/// What remove_stripe_sf() takes away. Threads: pixels.
struct StripeArgs {
  long columns = 0, size = 0;
  const double* mean = nullptr;
  float* stripe = nullptr;
};
struct StripeKernel {
  using Args = StripeArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long x = thread % a.columns;
    a.stripe[thread] = lane::beyond_running_mean(a.mean + thread - x, a.columns, a.size, x);
  }
};
/// Threads: angles x pixels.
struct SubtractArgs {
  long pixels = 0;
  const float* stripe = nullptr;
  float* values = nullptr;
};
struct SubtractKernel {
  using Args = SubtractArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    a.values[thread] -= a.stripe[thread % a.pixels];
  }
};

/// The sum of each line of a sinogram. Threads: meant angles x rows.
struct LineSumArgs {
  Sinograms of;
  double* sums = nullptr;  ///< [meant angle][row]
};
struct LineSumKernel {
  using Args = LineSumArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const float* const line = a.of.values + a.of.first * a.of.pixels() + thread * a.of.columns;
    double sum = 0;
    for (long x = 0; x < a.of.columns; ++x) sum += static_cast<double>(line[x]);
    a.sums[thread] = sum;
  }
};

/// Titarenko's corrections. Threads: rows x 2, the two orders of a row side by side.
struct CorrectArgs {
  Sinograms of;
  const double* mean = nullptr;
  const double* sums = nullptr;
  double* band = nullptr;  ///< work: [3][column][thread]
  double* q = nullptr;     ///< [column][thread]
};
struct CorrectKernel {
  using Args = CorrectArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long row = thread / 2, angles = a.of.end - a.of.first, threads = 2 * a.of.rows;
    double low = a.sums[row], high = low;
    for (long k = 1; k < angles; ++k) {
      const double sum = a.sums[k * a.of.rows + row];
      low = sum < low ? sum : low;
      high = sum > high ? sum : high;
    }
    lane::TitarenkoLine{.mean = a.mean + row * a.of.columns,
                        .n = a.of.columns,
                        .order = static_cast<int>(thread % 2) + 1,
                        .spread = high - low,
                        .band = a.band + thread,
                        .q = a.q + thread,
                        .step = threads,
                        .band_line = a.of.columns * threads}
        .solve();
  }
};
/// Values under both corrections, and the least of each column so far. Threads: pixels.
struct CombineArgs {
  Sinograms of;
  const double* q = nullptr;
  float* least = nullptr;
};
struct CombineKernel {
  using Args = CombineArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long row = thread / a.of.columns, x = thread % a.of.columns;
    const double* const q = a.q + x * 2 * a.of.rows + 2 * row;
    const double first = q[0], second = q[1];
    float* const column = a.of.values + thread;
    float least = 0;
    for (long k = a.of.first; k < a.of.end; ++k) {
      float& value = column[k * a.of.pixels()];
      value = lane::corrected_twice(value, first, second);
      least = k == a.of.first || value < least ? value : least;
    }
    a.least[thread] = a.of.first == 0 || least < a.least[thread] ? least : a.least[thread];
  }
};
/// What lifts a row's values so that they have a root. Threads: rows.
struct LiftArgs {
  long columns = 0;
  float alpha = 0;
  const float* least = nullptr;
  float* lift = nullptr;
};
struct LiftKernel {
  using Args = LiftArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const float* const line = a.least + thread * a.columns;
    float least = line[0];
    for (long x = 1; x < a.columns; ++x) least = line[x] < least ? line[x] : least;
    a.lift[thread] = a.alpha * (least < 0 ? -least : least);
  }
};
/// Threads: angles x pixels.
struct RootArgs {
  long rows = 0, columns = 0;
  const float* lift = nullptr;
  float* values = nullptr;
};
struct RootKernel {
  using Args = RootArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const float lifted = a.values[thread] + a.lift[thread / a.columns % a.rows];
    a.values[thread] = ::sqrtf(lifted > 0 ? lifted : 0.0F);
  }
};

}  // namespace tomoloom::gpu
