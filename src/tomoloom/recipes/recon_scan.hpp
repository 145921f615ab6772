// SPDX-License-Identifier: BSD-3-Clause
// The recipe of `tomoloom recon`: a scan -> a volume, by blocks of rows; reading, computing and
// writing go on at the same time.
#pragma once

#include <span>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "loom/files/output_files.hpp"
#include "tomoloom/recipes/recon_job.hpp"
#include "tomoloom/recipes/recon_setup.hpp"

namespace tomoloom {

/// The same bytes for any executor. Throws kUsage, kCentreRange, kSliceRange, kScanMismatch (no
/// flats, or none that is brighter than the darks), kMemory (before anything is read),
/// kInterrupted, and what reading and writing throw. Nothing of an output is seen before it is
/// whole.
[[nodiscard]] ReconSummary reconstruct_scan(const ReconJob& job, Executor& executor,
                                            const Observer& observer = {});

// Parts of it, for who makes the blocks elsewhere.

/// `inputs`, and beside folders among them what is read of those: images of a stack or a volume,
/// and what describes a Zarr volume.
[[nodiscard]] std::vector<NamedFile> files_that_are_read(std::span<const NamedFile> inputs);

/// Throws kUsage where the volume, or one of the texts beside it, is an input or another output,
/// kUnwritable where the volume cannot be, kOutputExists where it is there and is to stay.
void check_recon_output(const ReconJob& job, std::span<const NamedFile> texts = {});

/// Blocks that an earlier run has not left; says how many it has.
[[nodiscard]] std::vector<SliceBlock> blocks_left(ReconSetup& setup, const SliceSink& writer,
                                                  const Observer& observer);

/// After an error: what is unfinished goes, or stays where the same job can go on from there.
void leave_volume(const ReconJob& job, const Error& error, SliceSink& writer,
                  const Observer& observer);

}  // namespace tomoloom
