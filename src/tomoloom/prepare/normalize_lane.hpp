// SPDX-License-Identifier: BSD-3-Clause
// From a pixel's counts to its line integral. Plain arithmetic: the compiler takes loops over it
// apart into lanes by itself. Seen by host code and by .cu.
#pragma once

#include <cstdint>
#include <cstring>

#include "loom/base/scalar_lane.hpp"
#include "tomoloom/foundation.hpp"

namespace tomoloom {

/// Transmissions below this count as this: no light, or less than none after the dark, says only
/// that the line integral is large. Of a blind pixel, and of values that are not numbers, the
/// transmission is 1.
inline constexpr float kLeastTransmission = 1e-6F;

namespace lane {

/// At least the least; 1 where there is no gain or no number.
FL_LANE_HD static inline float transmission(float counts, float dark, float scale) {
  const float t = (counts - dark) * scale, least = kLeastTransmission;
  const float bounded = t > least ? t : least;
  const bool known = scale > 0 && t - t == 0;  // neither infinite nor not a number
  return known ? bounded : 1.0F;
}

/// -log(x) of a normal x > 0: x = m 2^e with m in [sqrt(1/2), sqrt(2)), polynomial in m - 1.
FL_LANE_HD static inline float minus_log_of(float x) {
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

/// The light beside the body at the two ends of a row: a straight line between them.
struct Beam {
  float left = 1, step = 0;
  FL_LANE_HD float at(float x) const { return left + step * x; }
};
/// The mean of `count` values; of one that is not above 0, 1.
FL_LANE_HD static inline float air_mean(const float* values, long count) {
  double sum = 0;
  for (long i = 0; i < count; ++i) sum += static_cast<double>(values[i]);
  const float mean = static_cast<float>(sum / static_cast<double>(count));
  return mean > 0 ? mean : 1.0F;
}
/// Of a row of which `air` pixels at either end, at most all of them, have nothing before them.
FL_LANE_HD static inline Beam beam_of(const float* row, long columns, long air) {
  const float left = air_mean(row, air), right = air_mean(row + columns - air, air);
  return {left, (right - left) / static_cast<float>(columns > 1 ? columns - 1 : 1)};
}

}  // namespace lane
}  // namespace tomoloom
