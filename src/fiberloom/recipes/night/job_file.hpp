// SPDX-License-Identifier: BSD-3-Clause
// A TOML job file as a FrameRequest. The keys are a contract (docs/fiberloom/nights.md).
#pragma once

#include <string>

#include "fiberloom/recipes/night/discover.hpp"

namespace fiberloom::night {

/// Adds what the file says to `request`; what the command line has set (`fixed`, paths, lists)
/// stays.
/// Paths in the file are relative to its folder. Throws kNotFound, kUsage (syntax, an unknown key,
/// a value of the wrong type, each with line), kUnsupported in a build without toml++.
void read_job_file(const std::string& path, FrameRequest& request);

}  // namespace fiberloom::night
