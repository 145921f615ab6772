// SPDX-License-Identifier: BSD-3-Clause
// The rays of one angle by themselves: which pixels each of them meets, and with which weights. The
// same entries as RayPair's, ordered by rays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "loom/base/array.hpp"
#include "loom/base/executor.hpp"
#include "tomoloom/reconstruct/ray_kernels.hpp"
#include "tomoloom/reconstruct/ray_pair.hpp"

namespace tomoloom {

/// Memory that one angle after the other is cast into. O(columns^2) an angle; the entries do not
/// depend on the executor.
template <class Real>
class RayRows {
 public:
  explicit RayRows(std::size_t columns);

  void cast(const RayPair<Real>& pair, std::size_t angle, Executor& executor);
  /// Pixels by their place in the slice, rising.
  [[nodiscard]] RayEntries<Real> entries(std::size_t column) const {
    return {.count = begin_[column + 1] - begin_[column],
            .pixel = pixels_.data() + begin_[column],
            .weight = weights_.data() + begin_[column]};
  }
  /// Sum of the squares of a ray's weights.
  [[nodiscard]] double square(std::size_t column) const;

  [[nodiscard]] static std::size_t bytes(std::size_t columns) noexcept {
    const std::size_t pixels = columns * columns, entry = sizeof(std::uint32_t) + sizeof(Real);
    return pixels * (kShadowBins * (entry + sizeof(Real)) + sizeof(std::int32_t)) +
           (parts(columns) + 1) * columns * sizeof(std::size_t);
  }

 private:
  /// Of the slice's rows, each cast by a task.
  [[nodiscard]] static std::size_t parts(std::size_t columns) noexcept;
  template <class Use>
  void each_entry(std::size_t part, const Use& use) const;

  std::size_t columns_;
  std::vector<std::vector<std::int32_t>> bin_;  ///< [row of the slice][pixel]: RayPair::cast()'s
  std::vector<std::vector<Real>> weight_;
  std::vector<std::vector<std::size_t>> next_;  ///< [part][ray]: entries, then where they go
  std::vector<std::size_t> begin_;              ///< [ray + 1]
  Buffer<std::uint32_t> pixels_;
  Buffer<Real> weights_;
};

extern template class RayRows<float>;
extern template class RayRows<double>;

}  // namespace tomoloom
