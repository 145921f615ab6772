// SPDX-License-Identifier: BSD-3-Clause
// The recipe of maps: time-ordered data -> hits, covariance, condition numbers, binned map,
// destriped map, as files. The samples are looked at once.
#pragma once

#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "skyloom/recipes/map_job.hpp"
#include "skyloom/recipes/rank_company.hpp"

namespace skyloom {

/// Writes hits.fits, invcov.fits, cov.fits, rcond.fits, binned.fits and map.fits, and the same of
/// each part, partN_hits.fits ..., N from 1: its binned map, and that with the offsets of all data
/// taken out. Throws kUsage,
/// kNoGoodData, kPixelisation, kMemory, and what reading and writing throw. `company`: the ranks
/// that share the data, all of which call this; the first one writes. A checkpoint is removed when
/// the maps are there.
MapSummary make_maps(const TodSource& source, const MapJob& job, Executor& executor,
                     const Observer& observer = {}, RankCompany* company = nullptr);

}  // namespace skyloom
