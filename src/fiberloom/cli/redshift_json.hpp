// SPDX-License-Identifier: BSD-3-Clause
// --json of `redshift`.
#pragma once

#include "fiberloom/cli/summary_json.hpp"
#include "fiberloom/recipes/redshift/find_redshifts.hpp"
#include "fiberloom/redshift/gpu/device_scan.hpp"

namespace fiberloom::cli {

[[nodiscard]] std::string redshift_json(const RedshiftSummary& summary, const RedshiftJob& job,
                                        const RunFacts& facts, const redshift::DeviceScan* device,
                                        const Tracer& tracer);

}  // namespace fiberloom::cli
