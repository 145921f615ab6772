// SPDX-License-Identifier: BSD-3-Clause
// bench_stripes [COLUMNS [ANGLES [REPEATS]]]: what each removal of stripes takes of one core, in
// milliseconds a sinogram, the quickest of some repeats.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <numbers>
#include <utility>
#include <vector>

#include "tomoloom/prepare/stripe.hpp"

namespace {

using namespace tomoloom;

/// A disc and a smaller one off the axis, with noise, a gain of each column and a dead one.
std::vector<float> sinogram(std::size_t angles, std::size_t columns) {
  std::vector<float> out(angles * columns);
  std::uint32_t state = 1;
  const auto noise = [&] {
    state = state * 1664525U + 1013904223U;
    return static_cast<double>(state >> 8) / (1 << 24) - 0.5;
  };
  std::vector<double> gain(columns);
  for (double& g : gain) g = 1 + 0.02 * noise();
  for (std::size_t a = 0; a < angles; ++a) {
    const double theta = std::numbers::pi * static_cast<double>(a) / static_cast<double>(angles);
    for (std::size_t x = 0; x < columns; ++x) {
      const double t = 2 * static_cast<double>(x) / static_cast<double>(columns) - 1;
      const double u = t - 0.4 * std::cos(theta);
      const double line =
          std::sqrt(std::max(0.0, 0.6 - t * t)) + 0.5 * std::sqrt(std::max(0.0, 0.04 - u * u));
      out[a * columns + x] =
          static_cast<float>(x == columns / 3 ? 0.1 : 0.1 + gain[x] * line + 0.02 * noise());
    }
  }
  return out;
}

double milliseconds(const std::vector<float>& from, std::size_t angles, std::size_t columns,
                    Stripe method, int repeats) {
  double best = 1e300;
  std::vector<float> work;
  for (int i = 0; i < repeats; ++i) {
    work = from;
    const std::clock_t begin = std::clock();  // of the processor: others may be at work
    remove_stripe({work.data(), angles, columns, columns}, {.method = method});
    best = std::min(best, 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, long otherwise) {
    return argc > i ? std::max(8L, std::atol(argv[i])) : otherwise;
  };
  const auto columns = static_cast<std::size_t>(number(1, 1024));
  const auto angles = static_cast<std::size_t>(number(2, 720));
  const int repeats = argc > 3 ? std::max(1, std::atoi(argv[3])) : 5;
  const std::vector<float> data = sinogram(angles, columns);
  constexpr std::pair<Stripe, const char*> kKinds[] = {{Stripe::kSf, "sf"},
                                                       {Stripe::kTi, "ti"},
                                                       {Stripe::kFw, "fw"},
                                                       {Stripe::kSorting, "sorting"},
                                                       {Stripe::kFiltering, "filtering"},
                                                       {Stripe::kFitting, "fitting"},
                                                       {Stripe::kInterpolation, "interpolation"},
                                                       {Stripe::kLarge, "large"},
                                                       {Stripe::kDead, "dead"},
                                                       {Stripe::kAll, "all"}};
  std::printf("%zu columns, %zu angles; ms a sinogram\n", columns, angles);
  for (const auto& [method, name] : kKinds) {
    std::printf("%-14s %8.2f\n", name, milliseconds(data, angles, columns, method, repeats));
  }
  return 0;
}
