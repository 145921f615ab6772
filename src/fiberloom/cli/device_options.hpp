// SPDX-License-Identifier: BSD-3-Clause
// --backend and what belongs to it, the same for every command that extracts.
#pragma once

#include "fiberloom/recipes/device_choice.hpp"

namespace CLI {
class App;
}

namespace fiberloom::cli {

void add_device_options(CLI::App& app, DeviceChoice& choice);

/// Throws kUsage when a device was asked for and the method has none.
void check_device(const DeviceChoice& choice, Method method);

}  // namespace fiberloom::cli
