// SPDX-License-Identifier: BSD-3-Clause
// One long complex transform, or two real ones of the same length: split into columns and rows, so
// that every part is a batch of short transforms with neighbours in the lanes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "loom/base/array.hpp"
#include "loom/fft/fft.hpp"

namespace loom::fft {

/// X[k] = sum over j of x[j] exp(sign 2 pi i j k / n), not normalised, n a power of two from 64 on.
/// Error about eps log2(n) of the largest |X|.
class LongPlan {
 public:
  /// Throws kInternal for another length.
  LongPlan(std::size_t n, Sign sign, Isa isa = active_isa());

  [[nodiscard]] static bool is_length(std::size_t n) noexcept;
  [[nodiscard]] std::size_t length() const noexcept { return rows_ * columns_; }
  /// Where the real part of x[k] stands in data of 2 length() numbers; the imaginary one stands
  /// kLanes behind it.
  [[nodiscard]] static constexpr std::size_t place(std::size_t k) noexcept {
    return (k / kLanes) * (2 * kLanes) + k % kLanes;
  }
  /// Transforms in place: X stands in another order than x, take() knows it. `work` has work_size()
  /// numbers, some square roots of length(). Safe from any thread.
  void run(double* data, double* work) const;
  [[nodiscard]] std::size_t work_size() const noexcept;
  enum class Part { kReal, kImaginary };
  /// X[first], X[first + 1] ... of what run() left in `data`.
  void take(const double* data, Part part, std::size_t first, std::span<double> out) const;

 private:
  std::size_t rows_, columns_;
  Isa isa_;
  Plan<double> down_, across_;
  /// exp(sign 2 pi i 8 k / n), and exp(sign 2 pi i row lane / n): their products are all factors.
  std::vector<double> coarse_, fine_;
};

}  // namespace loom::fft
