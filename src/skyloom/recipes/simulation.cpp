// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/simulation.hpp"

#include <memory>

#include "loom/base/error.hpp"

namespace skyloom {
namespace {

void check_ground(const SimulateJob& job) {
  const ModulationOptions& modulation = job.simulation.mount.modulation;
  if ((modulation.sine_phase_deg != 0 || modulation.sine_seed != 0) &&
      !(modulation.any() && modulation.sine)) {
    throw Error(Status::kUsage,
                "--modulation-phase, --modulation-seed: expected --elevation-modulation with "
                "--modulation-sine");
  }
  if (!job.schedule.empty() || job.simulation.schedule) return;
  const auto refuse = [](const char* what) { throw Error(Status::kUsage, what); };
  if (!job.simulation.stretches.empty()) {
    refuse("--intervals: expected --schedule, whose scans have them");
  }
  if (job.simulation.atmosphere.any()) {
    refuse("--atmosphere, --atmosphere-load: expected --schedule, a telescope on the ground");
  }
  if (!job.simulation.mount.nods.steps_deg.empty()) {
    refuse("--elnod: expected --schedule, a telescope on the ground");
  }
  if (modulation.any()) {
    refuse("--elevation-modulation: expected --schedule, a telescope on the ground");
  }
  if (job.simulation.mount.step_deg > 0) {
    refuse("--elevation-step: expected --schedule, a telescope on the ground");
  }
  if (job.simulation.ground.any() || !job.ground_map.empty()) {
    refuse("--ground-signal, --ground-map: expected --schedule, a telescope on the ground");
  }
}

}  // namespace

SimulationOptions simulation_of(const SimulateJob& job) {
  check_ground(job);
  SimulationOptions out = job.simulation;
  out.noise = !job.no_noise;
  if (!job.schedule.empty()) {
    out.schedule = std::make_shared<const GroundSchedule>(read_schedule(job.schedule));
  }
  if (!job.focal_plane.empty()) {
    out.given = std::make_shared<const FocalPlane>(
        read_focal_plane(job.focal_plane, out.plane, common_columns(commons_of(out))));
  }
  return out;
}

}  // namespace skyloom
