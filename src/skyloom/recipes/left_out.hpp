// SPDX-License-Identifier: BSD-3-Clause
// What is left out of the maps, where it is more than a user expects.
#pragma once

#include "loom/base/log.hpp"
#include "skyloom/recipes/map_job.hpp"

namespace skyloom {

/// Warns of stretches that no filter could be fitted to, and where so many samples were flagged as
/// glitches that they are noise.
void tell_of_left_out(const MapSummary& summary, const Observer& observer);
/// Warns of parts whose maps have no value in any pixel.
void tell_of_empty_parts(const MapSummary& summary, const Observer& observer);

}  // namespace skyloom
