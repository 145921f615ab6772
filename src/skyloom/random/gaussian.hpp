// SPDX-License-Identifier: BSD-3-Clause
// Streams of numbers: uniform and Gaussian, by the conventions of TOAST
// (docs/skyloom/algorithm.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "loom/simd/isa.hpp"
#include "skyloom/random/threefry.hpp"

namespace skyloom {

/// Where the streams of a simulation are: key = (realization 2^32 + telescope 2^16 + component,
/// observation 2^32 + detector), counter = (0, place).
struct StreamName {
  std::uint64_t realization = 0, telescope = 0, component = 0, observation = 0, detector = 0;
  [[nodiscard]] constexpr Words key() const noexcept {
    return {(realization << 32) + (telescope << 16) + component, (observation << 32) + detector};
  }
};

/// Words to (0, 1): (u + 1/2) 2^-64, rounded to double.
[[nodiscard]] constexpr double unit_interval(std::uint64_t word) noexcept {
  return static_cast<double>(word) * 0x1p-64 + 0x1p-65;
}

/// The inverse of erf on (-1, 1): the polynomials of Giles (2011) for double precision, relative
/// error some eps. Infinite at -1 and 1.
[[nodiscard]] double inverse_erf(double x) noexcept;

/// out[i] = sqrt(2) erfinv(2 u - 1), u that of counter (counter.first, counter.second + i): normal
/// deviates of mean 0 and variance 1. Some 10 ns a number and less. Levels agree to 2 ulp.
void fill_gaussian(Words key, Words counter, std::span<double> out, Isa isa = active_isa());

}  // namespace skyloom
