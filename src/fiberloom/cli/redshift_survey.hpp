// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom redshift` on many files: the batch engine, alone or over the ranks of a job.
#pragma once

#include "fiberloom/cli/redshift_options.hpp"

namespace fiberloom::cli {

/// The exit code; throws what ends the run.
[[nodiscard]] int run_redshift_survey(const Given& given, RedshiftCommand& command);

}  // namespace fiberloom::cli
