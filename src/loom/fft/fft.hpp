// SPDX-License-Identifier: BSD-3-Clause
// Batched complex transforms, one problem a lane: all lanes of an element lie side by side, so that
// a transform is the textbook's with packs in place of numbers. Two real problems may share a lane
// as real and imaginary part. Knows nothing of images.
#pragma once

#include <cstddef>
#include <vector>

#include "loom/fft/fft_kernels.hpp"
#include "loom/simd/isa.hpp"

namespace loom::fft {

/// Problems side by side: a cache line of real parts, then one of imaginary parts.
template <class Real>
inline constexpr std::size_t kBatch = 64 / sizeof(Real);
static_assert(kBatch<float> == kFloatLanes && kBatch<double> == kLanes);

/// Numbers in an element of a batch: kBatch real parts, kBatch imaginary parts.
template <class Real>
inline constexpr std::size_t kElement = 2 * kBatch<Real>;

/// A product of powers of 2, 3 and 5?
[[nodiscard]] bool is_length(std::size_t n) noexcept;
/// The smallest even length of that kind that is not below `n`, and at least 2.
[[nodiscard]] std::size_t good_length(std::size_t n) noexcept;

enum class Sign : int { kMinus = -1, kPlus = 1 };

/// X[k] = sum over j of x[j] exp(sign 2 pi i j k / n), not normalised, of kBatch problems at once.
/// O(n log n); error about eps log2(n) of the largest |X|. Safe from any thread.
template <class Real>
class Plan {
 public:
  /// Throws kInternal where is_length(n) does not hold.
  Plan(std::size_t n, Sign sign, Isa isa = active_isa());

  [[nodiscard]] std::size_t length() const noexcept { return length_; }
  /// Numbers that `work` must have.
  [[nodiscard]] std::size_t work_size() const noexcept { return 2 * length_ * kElement<Real>; }
  /// `count` elements from `in`, each `step` elements after the one before; those from `count` to
  /// the length are zero and not read. Returns the length() elements of the result, in `work`.
  /// `in` must not overlap `work`.
  Real* run(const Real* in, std::size_t step, std::size_t count, Real* work) const {
    return transform_(view(), in, step, count, work);
  }

  /// For who runs the passes elsewhere.
  [[nodiscard]] PlanView<Real> view() const noexcept {
    return {.length = length_,
            .pass_count = passes_.size(),
            .sign = static_cast<int>(sign_),
            .passes = passes_.data(),
            .twiddles = twiddles_.data()};
  }
  [[nodiscard]] std::size_t twiddle_count() const noexcept { return twiddles_.size(); }

 private:
  std::size_t length_;
  Sign sign_;
  std::vector<Pass> passes_;
  std::vector<Real> twiddles_;
  Transform<Real> transform_;
};

extern template class Plan<float>;
extern template class Plan<double>;

}  // namespace loom::fft
