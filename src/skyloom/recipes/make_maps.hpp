// SPDX-License-Identifier: BSD-3-Clause
// The recipe of maps: time-ordered data -> hits, covariance, condition numbers, binned map,
// destriped map, as files. The samples are looked at once.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "loom/files/output_files.hpp"
#include "skyloom/recipes/map_job.hpp"
#include "skyloom/recipes/rank_company.hpp"

namespace skyloom {

/// The files that make_maps() writes, in their order.
[[nodiscard]] std::vector<std::string> map_files(const MapJob& job);

/// Throws kUsage where there are no such files (--partial with --wcs), or one of them is one of
/// `inputs` or of `others`, the run's further outputs; kOutputExists where one is there that is to
/// stay; kUnwritable.
void check_map_files(const MapJob& job, std::span<const NamedFile> others = {},
                     std::span<const NamedFile> inputs = {});

/// Writes hits.fits, invcov.fits, cov.fits, rcond.fits, binned.fits and map.fits, and the same of
/// each part, partN_hits.fits ..., N from 1: its binned map, and that with the offsets of all data
/// taken out. Throws kUsage,
/// kNoGoodData, kPixelisation, kMemory, and what reading and writing throw. `company`: the ranks
/// that share the data, all of which call this; the first one writes. A checkpoint is removed when
/// the maps are there.
MapSummary make_maps(const TodSource& source, const MapJob& job, Executor& executor,
                     const Observer& observer = {}, RankCompany* company = nullptr);

}  // namespace skyloom
