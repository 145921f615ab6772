// SPDX-License-Identifier: BSD-3-Clause
// What belongs to SDSS's plates beside their spPlate files: the exposures they were made of, and
// who their targets are.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "fiberloom/formats/spectra_reader.hpp"
#include "fiberloom/recipes/redshift/redshift_job.hpp"
#include "loom/base/log.hpp"

namespace fiberloom {

/// A file of spectra, and what another file says of its targets.
struct SdssInput {
  std::string path;
  /// Of a frame: the MJD of its plate, by which the plate's targets are numbered.
  std::optional<std::int64_t> mjd;
  std::vector<std::int64_t> thing_id;  ///< of each FIBERID, from 1 on; empty: not known
};

/// The spCFrame files of a spPlate, beside it, by its keywords NEXP_B1, EXPID01 ... Throws
/// kMissingKeyword, kUsage where it is no spPlate.
[[nodiscard]] std::vector<std::string> frames_of_plate(const std::string& path);

/// The inputs of a job, with --use-frames the frames of the plates among them. Of several plates
/// that all have a photoPosPlate file beside them THING_IDs come from these. Throws what the
/// readers throw.
[[nodiscard]] std::vector<SdssInput> sdss_inputs(const RedshiftJob& job, const Observer& observer);

/// Warns of --use-andmask where none of the files has an ANDMASK.
void tell_of_and_mask(const RedshiftJob& job, const std::deque<SpectraReader>& files,
                      const Observer& observer);

/// With --use-frames: the files that a job reads beside its inputs; none of those that cannot be
/// read.
[[nodiscard]] std::vector<std::string> frames_behind(const RedshiftJob& job);

/// TARGETID as the input says: THING_ID where that is positive, or the plate's own MJD.
void name_targets(const SdssInput& input, SpectraReader& file);

}  // namespace fiberloom
