// SPDX-License-Identifier: BSD-3-Clause
// The rays of one angle by themselves: which pixels each of them meets, and with which weights. The
// same entries as RayPair's, ordered by rays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tomoloom/reconstruct/ray_kernels.hpp"
#include "tomoloom/reconstruct/ray_pair.hpp"

namespace tomoloom {

/// Memory that one angle after the other is cast into. O(columns^2) an angle.
template <class Real>
class RayRows {
 public:
  explicit RayRows(std::size_t columns)
      : columns_(columns), bin_(columns), weight_(kShadowBins * columns), begin_(columns + 1) {}

  void cast(const RayPair<Real>& pair, std::size_t angle);
  /// Pixels by their place in the slice, rising.
  [[nodiscard]] RayEntries<Real> entries(std::size_t column) const {
    return {.count = begin_[column + 1] - begin_[column],
            .pixel = pixels_.data() + begin_[column],
            .weight = weights_.data() + begin_[column]};
  }
  /// Sum of the squares of a ray's weights.
  [[nodiscard]] double square(std::size_t column) const;

  [[nodiscard]] static std::size_t bytes(std::size_t columns) noexcept {
    return kShadowBins * columns * columns * (sizeof(std::uint32_t) + sizeof(Real));
  }

 private:
  template <class Use>
  void each_entry(const RayPair<Real>& pair, std::size_t angle, const Use& use);

  std::size_t columns_;
  std::vector<std::int32_t> bin_;  ///< of a row of pixels
  std::vector<Real> weight_;
  std::vector<std::size_t> begin_;  ///< [column + 1]
  std::vector<std::uint32_t> pixels_;
  std::vector<Real> weights_;
};

extern template class RayRows<float>;
extern template class RayRows<double>;

}  // namespace tomoloom
