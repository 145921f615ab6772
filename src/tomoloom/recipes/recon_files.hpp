// SPDX-License-Identifier: BSD-3-Clause
// The files of a reconstruction: the scan that it reads, the volume that it writes.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "loom/base/log.hpp"
#include "tomoloom/exchange/slice_sink.hpp"
#include "tomoloom/exchange/zarr_volume.hpp"
#include "tomoloom/recipes/recon_job.hpp"

namespace tomoloom {

/// A Data Exchange file or stacks of images, with the angles that the job gives. Throws what
/// ScanReader and StackReader throw, kUsage (options that do not belong to such a scan),
/// kScanMismatch (angles).
[[nodiscard]] std::unique_ptr<FrameSource> open_scan(const ReconJob& job);

/// What the files of numbers hold that a job names; empty where it names none.
struct GivenNumbers {
  std::vector<double> theta, shifts, weights, centres, filter;
};
/// Throws what reading texts throws.
[[nodiscard]] GivenNumbers read_numbers(const ReconJob& job);

/// The angles, shifts, weights, places of flats and weights of a filter that the job gives. Throws
/// kScanMismatch; kUsage where the filter has weights and should have none, or none.
void tell_scan(const ReconJob& job, const GivenNumbers& given, FrameSource& scan);

/// Throws kScanMismatch where flats are wanted and there are none; warns of what is assumed.
void check_frames(const ReconJob& job, const ScanLayout& layout, const Observer& observer);

/// Of a volume in OME-Zarr's layout: a block of slices is whole chunks.
[[nodiscard]] ZarrVolume::Chunks zarr_chunks(const ReconJob& job);

/// An HDF5 file, a folder of images or of chunks; with job.resume what an interrupted run has left
/// of it, where that was made alike: `made_on` is SliceEngine's.
[[nodiscard]] std::unique_ptr<SliceSink> open_volume(const ReconJob& job, const FrameSource& scan,
                                                     const VolumeShape& shape,
                                                     std::span<const VolumeNote> notes,
                                                     Backend made_on);

}  // namespace tomoloom
