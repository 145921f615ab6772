// SPDX-License-Identifier: BSD-3-Clause
// A block that a card takes as counts and gives back as slices.
#pragma once

#include <memory>

#include "tomoloom/prepare/gpu/device_prepare.hpp"
#include "tomoloom/recipes/recon_block.hpp"

namespace tomoloom {

/// Whether the steps that a job asks for are all known to a card. Zingers, most kinds of stripes,
/// rows and projections that are moved, wide rows and binned ones are the CPU's.
[[nodiscard]] bool card_prepares(const ReconJob& job, const ScanLayout& layout) noexcept;

class CardBlock {
 public:
  /// All outlive it. Throws kDevice: no memory for the counts.
  CardBlock(const ReconJob& job, const ScanLayout& layout, DeviceSlices& card);

  /// prepare_lines() and SliceEngine::reconstruct() in one, of as many rows as slices.
  PixelFlaws run(const RawBlock& block, const VolumeView& slices, Executor& executor);

 private:
  const ReconJob& job_;
  const ScanLayout& layout_;
  DeviceSlices& card_;
  DevicePrepare prepare_;
};

}  // namespace tomoloom
