// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/simulation.hpp"

#include <memory>
#include <string>
#include <string_view>

#include "loom/base/error.hpp"

namespace skyloom {
namespace {

bool is_on_ground(const SimulateJob& job) {
  return !job.schedule.empty() || job.simulation.schedule != nullptr;
}

/// Options of one kind of scan say nothing of the other.
void check_kind(const SimulateJob& job) {
  SimulateJob asked = job, usual;
  const std::string_view wrong = is_on_ground(job) ? kScanOptions : kGroundOptions;
  for (const OptionRow<SimulateJob>& row : simulate_option_rows()) {
    const std::string_view key = row.key;
    if (wrong != row.group || key == "hwp_rpm" || key == "frame") continue;  // of both
    if (field_text(row.field(asked)) == field_text(row.field(usual))) continue;
    throw Error(
        Status::kUsage,
        long_name(row.names) + (is_on_ground(job)
                                    ? " with --schedule: expected one of them, it is of a satellite"
                                    : ": expected --schedule, a telescope on the ground"));
  }
}

void check_ground(const SimulateJob& job) {
  check_kind(job);
  const ModulationOptions& modulation = job.simulation.mount.modulation;
  if ((modulation.sine_phase_deg != 0 || modulation.sine_seed != 0) &&
      !(modulation.any() && modulation.sine)) {
    throw Error(Status::kUsage,
                "--modulation-phase, --modulation-seed: expected --elevation-modulation with "
                "--modulation-sine");
  }
  const PlateSignalOptions& plate = job.simulation.plate;
  if (!plate.any() && (plate.spread != 0 || plate.drift != 0)) {
    throw Error(Status::kUsage,
                std::string(plate.spread != 0 ? "--hwpss-spread" : "--hwpss-drift") +
                    ": expected --hwpss, which it is of");
  }
  if (is_on_ground(job)) return;
  if (job.ground_map.empty() && !job.simulation.ground.any()) return;  // Python's is an array
  throw Error(Status::kUsage, "--ground-map: expected --schedule, a telescope on the ground");
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
