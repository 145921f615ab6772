// SPDX-License-Identifier: BSD-3-Clause
// How far fluxes are from the truth, in their errors and in per cent.
#pragma once

#include <cmath>
#include <cstdio>

namespace fiberloom::bench {

/// Of (flux - R truth) / sigma, and of the difference itself relative to the truth.
struct Pulls {
  double n = 0, sum = 0, sum2 = 0, off = 0, light = 0;
  void add(double flux, double expected, double ivar) {
    const double pull = (flux - expected) * std::sqrt(ivar);
    n += 1;
    sum += pull;
    sum2 += pull * pull;
    off += flux - expected;
    light += expected;
  }
  void print() const {
    std::printf(" %+8.3f %7.3f %+9.3f %% |", sum / n, std::sqrt(sum2 / n), 100 * off / light);
  }
};

}  // namespace fiberloom::bench
