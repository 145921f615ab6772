// SPDX-License-Identifier: BSD-3-Clause
// A symmetric banded Toeplitz matrix times a vector, by transforms of pieces that overlap.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "loom/base/array.hpp"
#include "loom/fft/fft.hpp"

namespace loom::fft {

/// What a ToeplitzFilter works with, one for each thread; may be used with several of them.
struct ToeplitzWork {
  Buffer<double> in, work;
};

class ToeplitzFilter {
 public:
  /// T_ij = lags[|i - j|], 0 beyond.
  explicit ToeplitzFilter(std::vector<double> lags);

  [[nodiscard]] std::span<const double> lags() const noexcept { return lags_; }
  /// y = T x, of any length. Sixteen pieces go through a transform, two in each of its lanes. To
  /// some eps of the largest |lag| |x|; safe from any thread.
  void apply(std::span<const double> x, std::span<double> y, ToeplitzWork& work) const;
  /// What that works with, of so many lags, at most.
  [[nodiscard]] static std::size_t work_bytes(std::size_t lags) noexcept;

 private:
  std::vector<double> lags_;
  Plan<double> there_, back_;
  std::vector<double> spectrum_;  ///< of the lags, over the length of the transform
};

}  // namespace loom::fft
