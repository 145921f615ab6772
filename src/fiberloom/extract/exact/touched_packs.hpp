// SPDX-License-Identifier: BSD-3-Clause
// Which bins of a bundle see pixels whose weights have changed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fiberloom/extract/exact/geometry.hpp"

namespace fiberloom::exact {

/// Packs of kLanes bins of each fibre whose spots reach some of the pixels. An entry of N changes
/// only where both of its bins are in such packs.
class TouchedPacks {
 public:
  /// `pixels`: places in a strip of `pitch` columns, in increasing order.
  TouchedPacks(const SpotPlan& plan, const BundleGeometry& geometry, long pitch,
               std::span<const long> pixels);
  /// Whether the pack of bin j is one.
  [[nodiscard]] bool operator()(int fiber, int j) const {
    return touched_[static_cast<std::size_t>(fiber) * packs_ +
                    static_cast<std::size_t>(j / kLanes)] != 0;
  }
  /// The part of all packs that are.
  [[nodiscard]] double share() const;

 private:
  std::size_t packs_;
  std::vector<std::uint8_t> touched_;  ///< [fiber][pack]
};

}  // namespace fiberloom::exact
