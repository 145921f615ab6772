// SPDX-License-Identifier: BSD-3-Clause
// What `expose` and `night` tell: the progress line, the table of a dry run, the summary, the JSON.
#pragma once

#include <string>
#include <vector>

#include "fiberloom/recipes/night/night.hpp"

namespace fiberloom::cli {

/// "exposure 12: 12/30 frames, 1 failed, 3 in work, 27 frames a minute, 1630 a node-hour, 42 s
/// left".
[[nodiscard]] std::string night_line(const night::RunStatus& status);

/// The last lines: counts, rate, busy stages, failures.
[[nodiscard]] std::vector<std::string> night_summary(const night::NightReport& report);

/// One line a frame, then memory and time expected.
[[nodiscard]] std::vector<std::string> plan_table(const night::BatchPlan& plan,
                                                  const night::PipelineOptions& options);

/// --json; names are a contract (docs/fiberloom/nights.md). `ranks`: of an MPI job, or null.
[[nodiscard]] std::string night_json(const night::NightReport& report,
                                     const night::FrameRequest& request, const Tracer& tracer,
                                     const night::NightRanksReport* ranks = nullptr);

/// "4 ranks on 1 node, 8 threads, Open MPI 4.1.4; first frame after 0.21 s; ...".
[[nodiscard]] std::string ranks_summary(const night::NightRanksReport& ranks);

}  // namespace fiberloom::cli
