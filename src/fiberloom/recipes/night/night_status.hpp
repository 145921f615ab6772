// SPDX-License-Identifier: BSD-3-Clause
// What a night shows of itself: status.json and status.html, exposures by cameras.
#pragma once

#include <string>

#include "fiberloom/recipes/night/frame_quality.hpp"
#include "fiberloom/recipes/night/frame_task.hpp"
#include "loom/batch/run_status.hpp"

namespace fiberloom::night {

/// status.json: every member under its own name, schema "fiberloom-status-1".
[[nodiscard]] std::string status_json(const RunStatus& status, const QualityLimits& limits);

/// status.html: self-contained, refreshes itself, light and dark.
[[nodiscard]] std::string status_html(const RunStatus& status, const QualityLimits& limits);

}  // namespace fiberloom::night
