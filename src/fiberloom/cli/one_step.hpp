// SPDX-License-Identifier: BSD-3-Clause
// What commands share that make one file of a few in one process: how they run, and their summary.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "fiberloom/cli/one_process.hpp"
#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "loom/json/json.hpp"
#include "loom/program/command.hpp"
#include "loom/program/common_options.hpp"

namespace fiberloom::cli {

/// How a step runs.
struct StepRun {
  std::size_t threads = 0;
  std::string json;
  RankChoice ranks;
  LogOptions log;
};
void add_step_options(Options& options, StepRun& run);

[[nodiscard]] Json paths_json(const std::vector<std::string>& paths);

/// The step itself.
struct Step {
  std::string name;  ///< of the command
  /// Throws before anything is read where its outputs, or the texts beside them, cannot be written.
  std::function<void(std::span<const NamedFile> texts)> check{};
  /// Does it, and fills in its own part of the summary: input, output, result ...
  std::function<void(Executor&, const Observer&, Json& summary)> work{};
};
/// The exit code.
[[nodiscard]] int run_step(const Step& step, const StepRun& run, const Given& given);

}  // namespace fiberloom::cli
