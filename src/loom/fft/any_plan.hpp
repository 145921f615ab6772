// SPDX-License-Identifier: BSD-3-Clause
// Transforms of any length, primes too, one problem a lane: lengths that Plan does not know go by
// way of a convolution with a chirp (Bluestein 1970), which costs about six times as much.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "loom/fft/fft.hpp"

namespace loom::fft {

/// X[k] = sum over j of x[j] exp(sign 2 pi i j k / n), not normalised, of kBatch problems at once,
/// n from 1 on. Safe from any thread.
template <class Real>
class AnyPlan {
 public:
  AnyPlan(std::size_t n, Sign sign, Isa isa = active_isa());

  [[nodiscard]] std::size_t length() const noexcept { return length_; }
  /// Numbers that `work` must have.
  [[nodiscard]] std::size_t work_size() const noexcept;
  /// length() elements side by side, which must not overlap `work`; returns the result, in `work`.
  Real* run(const Real* in, Real* work) const;

 private:
  struct Factor {
    Real re = 0, im = 0;
  };
  static void multiply(const Real* in, const std::vector<Factor>& factors, std::size_t count,
                       Real* out);
  Real* by_chirp(const Real* in, Real* work) const;

  std::size_t length_;
  std::optional<Plan<Real>> direct_, there_, back_;
  std::vector<Factor> chirp_, response_;  ///< exp(sign pi i j^2 / n); transform of its conjugate
};

extern template class AnyPlan<float>;
extern template class AnyPlan<double>;

}  // namespace loom::fft
