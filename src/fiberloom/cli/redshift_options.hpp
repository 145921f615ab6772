// SPDX-License-Identifier: BSD-3-Clause
// The options of `fiberloom redshift`: ours, and every one of rrdesi.
#pragma once

#include <cstddef>
#include <string>

#include "fiberloom/cli/command.hpp"
#include "fiberloom/recipes/device_choice.hpp"
#include "fiberloom/recipes/redshift/survey.hpp"
#include "loom/program/rank_options.hpp"

namespace fiberloom::cli {

struct RedshiftCommand {
  RedshiftJob job;
  std::size_t threads = 0;
  DeviceChoice device;
  std::string json, trace;
  LogOptions log;
  // Of many files alone.
  survey::PipelineOptions pipeline;
  survey::ClaimOptions claims;
  std::string memory;
  RankOptions ranks;
  bool dry_run = false, verify_outputs = false, rebuild = false;
  double part_overhead_s = 2;
};

/// Declares all options; values land in `command`.
void add_redshift_options(Options& options, RedshiftCommand& command);

/// After parsing: one warning for each option that is accepted and does nothing. Throws kUsage for
/// nonsense.
void finish_redshift_options(const Given& given, const RedshiftCommand& command,
                             const Observer& observer);

}  // namespace fiberloom::cli
