// SPDX-License-Identifier: BSD-3-Clause
// Picks the kernel table of a level.
#include "loom/linalg/banded.hpp"

#include <string>

#include "loom/base/error.hpp"
#include "loom/simd/isa_tables.hpp"

namespace loom {

LOOM_ISA_TABLES(BandedKernels, kBanded, banded_kernels)

namespace {

template <std::size_t N>
int round_up(const std::array<int, N>& ladder, int value, const char* what) {
  for (const int step : ladder) {
    if (value <= step) return step;
  }
  throw Error(Status::kNumerical, std::string(what) + " of " + std::to_string(value) +
                                      " needed, at most " + std::to_string(ladder.back()) +
                                      " supported");
}

}  // namespace

int round_up_band(int band) { return round_up(kBands, band, "half-bandwidth"); }
int round_up_coupling(int half_width) {
  return round_up(kCouplings, half_width, "coupling half-width");
}

}  // namespace loom
