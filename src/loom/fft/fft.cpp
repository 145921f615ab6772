// SPDX-License-Identifier: BSD-3-Clause
// Lengths, passes and twiddle factors.
#include "loom/fft/fft.hpp"

#include <cmath>
#include <numbers>
#include <string>

#include "loom/base/error.hpp"
#include "loom/simd/isa_tables.hpp"

namespace loom {

LOOM_ISA_TABLES(fft::Kernels, kFft, fft_kernels_of)

namespace fft {
namespace {

/// Radix 8 as long as it leaves no lone 2, since each pass walks through all of the data.
std::vector<int> radices(std::size_t n) {
  std::vector<int> out;
  int twos = 0;
  for (; n % 2 == 0; n /= 2) ++twos;
  while (twos >= 3 && twos != 4) {
    out.push_back(8);
    twos -= 3;
  }
  for (; twos >= 2; twos -= 2) out.push_back(4);
  if (twos == 1) out.push_back(2);
  for (const int radix : {5, 3}) {
    for (; n % static_cast<std::size_t>(radix) == 0; n /= static_cast<std::size_t>(radix)) {
      out.push_back(radix);
    }
  }
  if (out.empty()) out.push_back(1);
  return out;
}

}  // namespace

const Kernels& kernels(Isa isa) { return fft_kernels_of(isa); }

bool is_length(std::size_t n) noexcept {
  if (n == 0) return false;
  for (const std::size_t factor : {2U, 3U, 5U}) {
    while (n % factor == 0) n /= factor;
  }
  return n == 1;
}

std::size_t good_length(std::size_t n) noexcept {
  n = n < 2 ? 2 : n + n % 2;
  while (!is_length(n)) n += 2;
  return n;
}

template <class Real>
Plan<Real>::Plan(std::size_t n, Sign sign, Isa isa) : length_(n), sign_(sign) {
  if (!is_length(n)) {
    throw Error(Status::kInternal, "a transform of length " + std::to_string(n) +
                                       ": expected a product of powers of 2, 3 and 5");
  }
  std::size_t left = n, stride = 1;
  for (const int radix : radices(n)) {
    const auto r = static_cast<std::size_t>(radix);
    const std::size_t groups = left / r;
    passes_.push_back(
        {.radix = radix, .groups = groups, .stride = stride, .twiddles = twiddles_.size()});
    for (std::size_t p = 0; p < groups; ++p) {
      for (std::size_t j = 1; j < r; ++j) {
        // exact modulo a whole turn, so that no angle is large
        const double angle = static_cast<int>(sign) * 2 * std::numbers::pi *
                             static_cast<double>((p * j) % left) / static_cast<double>(left);
        twiddles_.push_back(static_cast<Real>(std::cos(angle)));
        twiddles_.push_back(static_cast<Real>(std::sin(angle)));
      }
    }
    left = groups;
    stride *= r;
  }
  if constexpr (sizeof(Real) == 4) {
    transform_ = kernels(isa).floats;
  } else {
    transform_ = kernels(isa).doubles;
  }
}

template class Plan<float>;
template class Plan<double>;

}  // namespace fft
}  // namespace loom
