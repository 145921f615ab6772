// SPDX-License-Identifier: BSD-3-Clause
// Plain loops that the compiler takes apart into lanes of this ISA level by itself (compiled once
// for each): additions, turns and polynomials, and the few outer numbers one by one afterwards.
#include <cstring>

#include "skyloom/random/gaussian_kernels.hpp"
#include "skyloom/random/gaussian_lane.hpp"
#include "skyloom/random/threefry.hpp"

namespace skyloom::FIBERLOOM_ISA_NS {
namespace {

constexpr std::size_t kBlock = 128;

double double_of(std::uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// An integer below 2^32, exactly: no level but the last has an instruction for it.
double small_integer(std::uint64_t n) { return double_of(n | 0x4330000000000000U) - 0x1p52; }

/// log(x) of a normal x in (0, 2), to 1 ulp.
double log_of(double x) {
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  // 2^e m with m in [sqrt(1/2), sqrt(2)); the exponent lifted by 1024, so that it stays positive
  const std::uint64_t lifted = (bits - 0x3fe6a09e667f3bcdU + (std::uint64_t{1024} << 52)) >> 52;
  const double e = small_integer(lifted) - 1024;
  const double m = double_of(bits - ((lifted - 1024) << 52));
  const double s = (m - 1) / (m + 1), z = s * s;
  double p = 1.0 / 21;
  p = p * z + 1.0 / 19;
  p = p * z + 1.0 / 17;
  p = p * z + 1.0 / 15;
  p = p * z + 1.0 / 13;
  p = p * z + 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z + 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z + 1.0 / 3;
  // ln 2 in two parts, the first with 42 bits
  const double tail = e * 0x1.ef35793c76730p-45 + 2 * s * (z * p);
  return e * 0x1.62e42fefa3800p-1 + (2 * s + tail);
}

/// The first words of a block of counters.
void words_of_block(const std::uint64_t (&keys)[3], std::uint64_t c0, std::uint64_t c1,
                    std::uint64_t* out) {
  for (std::size_t i = 0; i < kBlock; ++i) {
    std::uint64_t a = c0 + keys[0], b = c1 + i + keys[1];
    const auto turn = [&a, &b](int by) {
      a += b;
      b = (b << by | b >> (64 - by)) ^ a;
    };
    const auto mix = [&a, &b, &keys](unsigned x, unsigned y, unsigned time) {
      a += keys[x];
      b += keys[y] + time;
    };
    turn(16), turn(42), turn(12), turn(31);
    mix(1, 2, 1);
    turn(16), turn(32), turn(24), turn(21);
    mix(2, 0, 2);
    turn(16), turn(42), turn(12), turn(31);
    mix(0, 1, 3);
    turn(16), turn(32), turn(24), turn(21);
    mix(1, 2, 4);
    turn(16), turn(42), turn(12), turn(31);
    mix(2, 0, 5);
    out[i] = a;
  }
}

void fill(std::uint64_t k0, std::uint64_t k1, std::uint64_t c0, std::uint64_t c1, std::size_t n,
          double* out) {
  const std::uint64_t keys[3] = {k0, k1, kThreefryParity ^ k0 ^ k1};
  std::uint64_t words[kBlock];
  double x[kBlock], w[kBlock], g[kBlock];
  for (std::size_t first = 0; first < n; first += kBlock) {
    words_of_block(keys, c0, c1 + first, words);
    for (std::size_t i = 0; i < kBlock; ++i) {
      // the sum of two exact halves is rounded once, as the conversion of the word would be
      const double word =
          small_integer(words[i] >> 32) * 0x1p32 + small_integer(words[i] & 0xffffffffU);
      x[i] = 2 * (word * 0x1p-64 + 0x1p-65) - 1;
      w[i] = -log_of((1 - x[i]) * (1 + x[i]));
      g[i] = lane::inner_inverse_erf_ratio(w[i]) * x[i] * 0x1.6a09e667f3bcdp+0;
    }
    for (std::size_t i = 0; i < kBlock; ++i) {
      if (w[i] >= kInnerLogs) g[i] = outer_inverse_erf_ratio(w[i]) * x[i] * 0x1.6a09e667f3bcdp+0;
    }
    const std::size_t count = n - first < kBlock ? n - first : kBlock;
    std::memcpy(out + first, g, count * sizeof(double));
  }
}

}  // namespace

extern const GaussianKernels kGaussian;
const GaussianKernels kGaussian{fill};

}  // namespace skyloom::FIBERLOOM_ISA_NS
