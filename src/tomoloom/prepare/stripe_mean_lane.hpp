// SPDX-License-Identifier: BSD-3-Clause
// What is taken for stripes in the means of columns over angles. Seen by host code and by .cu.
#pragma once

#include "loom/base/scalar_lane.hpp"
#include "tomoloom/foundation.hpp"

namespace tomoloom::lane {

/// What a line of means has at x beyond its mean over `size` columns, the ends repeated.
FL_LANE_HD static inline float beyond_running_mean(const double* mean, long n, long size, long x) {
  double sum = 0;
  for (long j = 0; j < size; ++j) {
    const long at = x + j - size / 2;
    sum += mean[at < 0 ? 0 : (at > n - 1 ? n - 1 : at)];
  }
  return static_cast<float>(mean[x] - sum / static_cast<double>(size));
}

/// Titarenko's: q solves (H^T H + 1 / (2 spread)) q = -H^T H mean, with H the first or second
/// difference of a line, by a banded L D L^T.
struct TitarenkoLine {
  const double* mean = nullptr;
  long n = 0;
  int order = 1;      ///< 1 or 2
  double spread = 0;  ///< how far the sums of the sinogram's lines are apart; of 0 nothing is done
  // numbers of a line are so many places apart
  double* band = nullptr;  ///< work: order + 1 lines of n, each `band_line` behind the one before
  double* q = nullptr;     ///< what is added to each column
  long step = 1, band_line = 0;

  FL_LANE_HD double& diagonal(long d, long i) const { return band[d * band_line + i * step]; }
  FL_LANE_HD double difference(long i) const {
    if (order == 1) return i == 0 ? 1 : -1;
    return i == 1 ? 2 : -1;
  }

  FL_LANE_HD void solve() const {
    if (!(spread > 0)) {
      for (long i = 0; i < n; ++i) q[i * step] = 0;
      return;
    }
    make_band();
    for (long i = 0; i < n; ++i) q[i * step] = 0;
    for (long d = 0; d <= order; ++d) {
      for (long i = 0; i + d < n; ++i) {
        q[i * step] -= diagonal(d, i) * mean[i + d];
        if (d > 0) q[(i + d) * step] -= diagonal(d, i) * mean[i];
      }
    }
    for (long i = 0; i < n; ++i) diagonal(0, i) += 1 / (2 * spread);
    eliminate();
    for (long i = n; i-- > 0;) {
      for (long d = 1; d <= order && i + d < n; ++d) {
        q[i * step] -= diagonal(d, i) * q[(i + d) * step];
      }
      q[i * step] /= diagonal(0, i);
    }
  }

 private:
  FL_LANE_HD void make_band() const {
    for (long d = 0; d <= order; ++d) {
      for (long i = 0; i < n; ++i) diagonal(d, i) = 0;
    }
    for (long row = 0; row + order < n; ++row) {
      for (long i = 0; i <= order; ++i) {
        for (long j = i; j <= order; ++j) {
          diagonal(j - i, row + i) += difference(i) * difference(j);
        }
      }
    }
  }
  FL_LANE_HD void eliminate() const {
    for (long i = 0; i < n; ++i) {
      for (long d = 1; d <= order && i + d < n; ++d) {
        const double factor = diagonal(d, i) / diagonal(0, i);
        for (long e = d; e <= order && i + e < n; ++e) {
          diagonal(e - d, i + d) -= factor * diagonal(e, i);
        }
        q[(i + d) * step] -= factor * q[i * step];
      }
    }
  }
};

/// A value under both corrections, each sum rounded once; what Titarenko takes the root of.
FL_LANE_HD static inline float corrected_twice(float value, double first, double second) {
  const double v = static_cast<double>(value);
  return static_cast<float>(v + first) * static_cast<float>(v + second);
}

}  // namespace tomoloom::lane
