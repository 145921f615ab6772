// SPDX-License-Identifier: BSD-3-Clause
// Samples to runs on a device: what RunBuilder does on the CPU, by the same text.
#pragma once

#include <vector>

#include "loom/device/device.hpp"
#include "skyloom/gpu/sky_device_lane.hpp"
#include "skyloom/mapping/runs.hpp"

namespace skyloom {

/// The runs of a detector's samples, all of them, in the order of RunBuilder's; flags are given.
/// `step`: samples of a baseline, 0: one. Throws kDevice.
[[nodiscard]] std::vector<gpu::PixelRun> runs_on_device(Device& device, const SampleBlock& samples,
                                                        std::size_t step);

}  // namespace skyloom
