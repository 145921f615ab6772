// SPDX-License-Identifier: BSD-3-Clause
// Whether the files of a job hold the same light twice, which would make errors of redshifts too
// small.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "fiberloom/formats/spectra_reader.hpp"

namespace fiberloom {

/// Throws kUsage where one file is there twice, whatever it is called.
void require_different_files(std::span<const std::string> paths);

/// Throws kUsage where one file is there twice, or two of them have the same camera of the same
/// fibre in the same exposure, as far as EXP_FIBERMAP, FIBERMAP or the header say
/// (exposure_numbers(), FIBER).
void require_different_exposures(const std::deque<SpectraReader>& files);

/// [file][row] exposure_numbers() where some spectra do not tell so much (tells_exposures()); empty
/// where all do.
[[nodiscard]] std::vector<std::vector<std::int64_t>> unsure_exposures(
    const std::deque<SpectraReader>& files);

/// Throws kMissingKeyword where some files have TARGETIDs and others have not: numbers of rows are
/// no TARGETIDs, such files share no target.
void require_comparable_ids(const std::deque<SpectraReader>& files);

}  // namespace fiberloom
