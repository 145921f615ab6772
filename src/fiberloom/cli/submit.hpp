// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom night --submit`: the night's tasks as Slurm job arrays, written and submitted.
#pragma once

#include "fiberloom/cli/night_options.hpp"
#include "loom/base/log.hpp"

namespace fiberloom::cli {

/// Writes OUT/.fiberloom/jobs and calls sbatch; with --dry-run prints the scripts and writes
/// nothing. Throws kUnsupported where there is no sbatch, kUnwritable; when one array is refused
/// those before it are cancelled.
int submit_night(const NightCommand& command, const Observer& observer);

}  // namespace fiberloom::cli
