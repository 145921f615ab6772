// SPDX-License-Identifier: BSD-3-Clause
// The recipe of `tomoloom recon`: a scan -> a volume, by blocks of rows; reading, computing and
// writing go on at the same time.
#pragma once

#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "tomoloom/recipes/recon_job.hpp"

namespace tomoloom {

/// The same bytes for any executor. Throws kUsage, kCentreRange, kSliceRange, kScanMismatch (no
/// flats, or none that is brighter than the darks), kMemory (before anything is read),
/// kInterrupted, and what reading and writing throw. Nothing of an output is seen before it is
/// whole.
[[nodiscard]] ReconSummary reconstruct_scan(const ReconJob& job, Executor& executor,
                                            const Observer& observer = {});

}  // namespace tomoloom
