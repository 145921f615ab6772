// SPDX-License-Identifier: BSD-3-Clause
// The fibres of a simulated night, and what a FIBERMAP says of them. Internal to recipes/.
#pragma once

#include <vector>

#include "fiberloom/recipes/simulate_night.hpp"
#include "fiberloom/simulate/targets.hpp"
#include "fiberloom/spectrum/table.hpp"
#include "fiberloom/truth/night.hpp"

namespace fiberloom::simulated_night {

/// Of a night with defects one fibre in 40 passes no light.
[[nodiscard]] bool is_broken(const SimulateNightJob& job, std::size_t fiber);

/// The fibres as the simulated cameras have them, with what is drawn of a night's targets.
[[nodiscard]] std::vector<Target> fibers_of(const SimulateNightJob& job,
                                            const std::vector<truth::FieldTarget>& targets,
                                            int tile, int spectrograph);

[[nodiscard]] Table fibermap_of(const SimulateNightJob& job, const std::vector<Target>& fibers);

/// What imaging says of the targets: fluxes in the three bands, dust, the survey.
void add_photometry(const Array2D<double>& flux, const std::vector<double>& wave, double ebv,
                    Table& fibermap);

}  // namespace fiberloom::simulated_night
