// SPDX-License-Identifier: BSD-3-Clause
// From the options of `skyloom simulate` to a simulation: the files that they name are read.
#pragma once

#include "skyloom/recipes/simulate_option_table.hpp"
#include "skyloom/tod/simulated_tod.hpp"

namespace skyloom {

/// What is simulated, with the schedule and the focal plane of the job's files; a schedule that the
/// job's simulation has already stays. The maps of sky and ground are the caller's to read. Throws
/// kUsage where something of the ground is asked for without a schedule, and what reading throws.
[[nodiscard]] SimulationOptions simulation_of(const SimulateJob& job);

}  // namespace skyloom
