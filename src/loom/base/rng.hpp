// SPDX-License-Identifier: BSD-3-Clause
// Counter-based random numbers (Philox4x32-10, Salmon et al. 2011): element i of stream s is a pure
// function of (seed, s, i), so that any thread may draw any element.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace loom {

class CounterRng {
 public:
  CounterRng(std::uint64_t seed, std::uint64_t stream) noexcept : seed_(seed), stream_(stream) {}

  /// Four 32-bit words of the block with this index.
  [[nodiscard]] std::array<std::uint32_t, 4> block(std::uint64_t index) const noexcept {
    std::array<std::uint32_t, 4> x{lo(index), hi(index), lo(stream_), hi(stream_)};
    std::uint32_t k0 = lo(seed_), k1 = hi(seed_);
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t p0 = std::uint64_t{0xD2511F53U} * x[0];
      const std::uint64_t p1 = std::uint64_t{0xCD9E8D57U} * x[2];
      x = {hi(p1) ^ x[1] ^ k0, lo(p1), hi(p0) ^ x[3] ^ k1, lo(p0)};
      k0 += 0x9E3779B9U;
      k1 += 0xBB67AE85U;
    }
    return x;
  }

  /// Uniform in (0, 1), 53 bits; two independent values for each index.
  [[nodiscard]] std::array<double, 2> uniform2(std::uint64_t index) const noexcept {
    const auto w = block(index);
    return {to_unit(w[0], w[1]), to_unit(w[2], w[3])};
  }
  [[nodiscard]] double uniform(std::uint64_t index) const noexcept { return uniform2(index)[0]; }

  /// Standard normal deviates (Box-Muller), two for each index.
  [[nodiscard]] std::array<double, 2> normal2(std::uint64_t index) const noexcept {
    const auto u = uniform2(index);
    const double r = std::sqrt(-2.0 * std::log(u[0]));
    const double a = 2.0 * std::numbers::pi * u[1];
    return {r * std::cos(a), r * std::sin(a)};
  }
  [[nodiscard]] double normal(std::uint64_t index) const noexcept { return normal2(index)[0]; }

 private:
  static std::uint32_t lo(std::uint64_t v) noexcept { return static_cast<std::uint32_t>(v); }
  static std::uint32_t hi(std::uint64_t v) noexcept { return static_cast<std::uint32_t>(v >> 32); }
  static double to_unit(std::uint32_t a, std::uint32_t b) noexcept {
    const std::uint64_t bits = (std::uint64_t{a} << 32 | b) >> 11;
    return (static_cast<double>(bits) + 0.5) * 0x1p-53;
  }
  std::uint64_t seed_, stream_;
};

}  // namespace loom
