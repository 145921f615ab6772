// SPDX-License-Identifier: BSD-3-Clause
// Files of another run in the folder of this one's, which pass for them: in `data/*.h5`, on a page.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "loom/base/log.hpp"

namespace skyloom {

/// Warns where `folder` has files that are `alike`, by their names, and none of `own`.
void tell_of_others(const std::string& folder, std::span<const std::string> own,
                    const std::function<bool(const std::string& name)>& alike,
                    const Observer& observer);

}  // namespace skyloom
