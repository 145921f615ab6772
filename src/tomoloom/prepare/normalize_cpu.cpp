// SPDX-License-Identifier: BSD-3-Clause
// Plain loops that the compiler takes apart into lanes of this ISA level by itself (compiled once
// for each): all steps are multiply-adds, comparisons and shifts.
#include "tomoloom/prepare/normalize_kernels.hpp"
#include "tomoloom/prepare/normalize_lane.hpp"

namespace tomoloom::FIBERLOOM_ISA_NS {
namespace {

template <class Counts>
void scale_all(const Counts* in, const float* dark, const float* scale, std::size_t n, float* out) {
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = lane::transmission(static_cast<float>(in[i]), dark[i], scale[i]);
  }
}

void minus_log(float* values, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) values[i] = lane::minus_log_of(values[i]);
}

}  // namespace

extern const NormalizeKernels kNormalize;
const NormalizeKernels kNormalize{scale_all<std::uint16_t>, scale_all<float>, minus_log};

}  // namespace tomoloom::FIBERLOOM_ISA_NS
