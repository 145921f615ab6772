// SPDX-License-Identifier: BSD-3-Clause
// Plain loops that the compiler takes apart into lanes of this ISA level by itself (compiled once
// for each): all steps are multiply-adds, comparisons and shifts.
#include <cstring>

#include "tomoloom/prepare/normalize.hpp"
#include "tomoloom/prepare/normalize_kernels.hpp"

namespace tomoloom::FIBERLOOM_ISA_NS {
namespace {

/// At least the least; 1 where there is no gain or no number.
float transmission(float counts, float dark, float scale) {
  const float t = (counts - dark) * scale;
  const float bounded = t > kLeastTransmission ? t : kLeastTransmission;
  const bool known = scale > 0 && t - t == 0;  // neither infinite nor not a number
  return known ? bounded : 1.0F;
}

/// -log(x) of a normal x > 0: x = m 2^e with m in [sqrt(1/2), sqrt(2)), polynomial in m - 1.
float minus_log_of(float x) {
  std::int32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const std::int32_t exponent = (bits - 0x3f3504f3) >> 23;
  const std::int32_t mantissa = bits - (exponent << 23);
  float m;
  std::memcpy(&m, &mantissa, sizeof m);
  const float f = m - 1, z = f * f, e = static_cast<float>(exponent);
  float p = 7.0376836292e-2F;
  p = p * f - 1.1514610310e-1F;
  p = p * f + 1.1676998740e-1F;
  p = p * f - 1.2420140846e-1F;
  p = p * f + 1.4249322787e-1F;
  p = p * f - 1.6668057665e-1F;
  p = p * f + 2.0000714765e-1F;
  p = p * f - 2.4999993993e-1F;
  p = p * f + 3.3333331174e-1F;
  const float tail = p * f * z - 2.12194440e-4F * e - 0.5F * z;
  return -(f + tail + 0.693359375F * e);
}

template <class Counts>
void scale_all(const Counts* in, const float* dark, const float* scale, std::size_t n, float* out) {
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = transmission(static_cast<float>(in[i]), dark[i], scale[i]);
  }
}

void minus_log(float* values, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) values[i] = minus_log_of(values[i]);
}

}  // namespace

extern const NormalizeKernels kNormalize;
const NormalizeKernels kNormalize{scale_all<std::uint16_t>, scale_all<float>, minus_log};

}  // namespace tomoloom::FIBERLOOM_ISA_NS
