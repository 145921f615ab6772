// SPDX-License-Identifier: BSD-3-Clause
// --backend and what belongs to it, the same for every command that may use a card.
#pragma once

#include "fiberloom/recipes/device_choice.hpp"
#include "loom/program/options.hpp"

namespace fiberloom::cli {

void add_device_options(Options& options, DeviceChoice& choice);

/// Throws kUsage when a device was asked for and the method has none.
void check_device(const DeviceChoice& choice, Method method);

}  // namespace fiberloom::cli
