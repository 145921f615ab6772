// SPDX-License-Identifier: BSD-3-Clause
// Which processor computes, as a user chooses it: the command line and Python open it here.
#pragma once

#include "fiberloom/extract/exact/gpu/device_engine.hpp"
#include "fiberloom/recipes/engine.hpp"
#include "loom/base/log.hpp"

namespace fiberloom {

struct DeviceChoice {
  Backend backend = Backend::kAuto;
  double memory_gb = 0;  ///< 10^9 bytes of each card; 0: most of what is free
  DeviceEngineOptions options;
};

/// The engine of a method, on a device where the choice finds one. Throws kDevice when it cannot be
/// had.
[[nodiscard]] Engine open_engine(const DeviceChoice& choice, fiberloom::Method method,
                                 const Observer& observer);

}  // namespace fiberloom
