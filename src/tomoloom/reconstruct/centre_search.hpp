// SPDX-License-Identifier: BSD-3-Clause
// The last step of every search for the axis. For centre*.cpp alone.
#pragma once

#include <algorithm>
#include <complex>
#include <numbers>
#include <vector>

#include "tomoloom/foundation.hpp"

namespace tomoloom {

/// The column c in [low, high] where sum_k Re(d[k - 1] exp(-4 pi i k c / padded)) is least, to 0.01
/// pixels.
inline double least_energy(const std::vector<std::complex<double>>& d, std::size_t padded,
                           double low, double high) {
  const auto energy = [&](double c) {
    const std::complex<double> step =
        std::polar(1.0, -4 * std::numbers::pi * c / static_cast<double>(padded));
    std::complex<double> turn = step;
    double sum = 0;
    for (const auto& each : d) {
      sum += (each * turn).real();
      turn *= step;
    }
    return sum;
  };
  double best = low, lowest = energy(low);
  const auto search = [&](double from, double to, double step) {
    for (double c = from; c <= to; c += step) {
      const double e = energy(c);
      if (e < lowest) {
        lowest = e;
        best = c;
      }
    }
  };
  search(low, high, 0.25);
  const double coarse = best;
  search(std::max(low, coarse - 0.25), std::min(high, coarse + 0.25), 0.01);
  return best;
}

}  // namespace tomoloom
