// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/map_wishes.hpp"

#include <initializer_list>
#include <string>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "skyloom/recipes/checkpoint.hpp"
#include "skyloom/recipes/gls_maps.hpp"
#include "skyloom/status.hpp"

namespace skyloom {
namespace {

/// An option that only another one makes sense of.
struct PassedOver {
  bool is;
  const char *name, *of;
};

void refuse_passed_over(std::initializer_list<PassedOver> options) {
  for (const PassedOver& each : options) {
    if (!each.is) continue;
    throw Error(Status::kUsage,
                std::string(each.name) + ": expected " + each.of + ", which it is of");
  }
}

/// Those of a half-wave plate.
void check_plate_options(const MapJob& job) {
  const HarmonicTemplate &plate = job.filters.plate, no_plate;
  const DemodulationOptions &demodulation = job.demodulation, usual;
  refuse_passed_over(
      {{!plate.any() && plate.trend != no_plate.trend, "--hwp-trend", "--hwp-harmonics"},
       {!plate.any() && plate.drift, "--hwp-drift", "--hwp-harmonics"},
       {!plate.any() && plate.detrend, "--hwp-detrend", "--hwp-harmonics"},
       {plate.detrend && !plate.trend, "--hwp-detrend", "a --hwp-trend"},
       {!demodulation.on && demodulation.cut != usual.cut, "--demod-cut", "--demodulate"},
       {!demodulation.on && demodulation.skip != usual.skip, "--demod-skip", "--demodulate"}});
  if (!demodulation.on) return;
  // the noise of demodulated I is another than that of Q and U, and each stream has part of both
  if (!job.prior && job.method != MapMethod::kGls) return;
  throw Error(Status::kUsage, std::string("--demodulate with ") +
                                  (job.prior ? "--prior" : "--method gls") +
                                  ": expected one of them");
}

/// What is fitted together, and what is told of that fit.
void check_joint_options(const MapJob& job) {
  const JointOptions &joint = job.filters.joint, usual;
  const FilterOptions& filters = job.filters;
  const bool deprojects = job.deproject_templates() > 0, bins = filters.ground.bin_deg > 0;
  refuse_passed_over(
      {{!joint.on && joint.least_reciprocal != usual.least_reciprocal, "--joint-rcond", "--joint"},
       {!joint.on && filters.ground_step_s > 0, "--ground-step", "--joint"},
       {!joint.on && filters.ground.drift > 0, "--ground-drift", "--joint"},
       {!joint.on && deprojects, "--deproject", "--joint"},
       {!filters.ground.any() && filters.ground_step_s > 0, "--ground-step",
        "--ground-order or --ground-bins"},
       {!bins && filters.ground.drift > 0, "--ground-drift", "--ground-bins"},
       {!deprojects && job.deproject_columns != MapJob().deproject_columns, "--deproject-columns",
        "--deproject"}});
  if (!joint.on) return;
  if (deprojects && job.demodulation.on) {
    throw Error(Status::kUsage, "--deproject with --demodulate: expected one of them");
  }
  JointWishes wishes = filters.together(1);
  if (job.demodulation.on) wishes.plate = {};  // it goes before the samples are demodulated
  if (!wishes.any() && !deprojects) {
    throw Error(Status::kUsage,
                std::string("--joint: expected --poly-order, --ground-order, --ground-bins") +
                    (job.demodulation.on ? "" : ", --hwp-harmonics or --deproject") +
                    ", which it fits together");
  }
  const GroundTemplate no_ground;
  const HarmonicTemplate no_plate;
  const struct {
    bool asked;
    const char* name;
  } trends[] = {{wishes.ground.trend && wishes.ground.trend != no_ground.trend, "--ground-trend"},
                {wishes.plate.trend && wishes.plate.trend != no_plate.trend, "--hwp-trend"},
                {wishes.plate.detrend, "--hwp-detrend"}};
  for (const auto& each : trends) {
    if (!each.asked) continue;
    throw Error(Status::kUsage, std::string("--joint with ") + each.name +
                                    ": expected one of them, it fits no trends");
  }
  if (wishes.ground.order && *wishes.ground.order < lowest_ground_order(wishes)) {
    throw Error(
        Status::kUsage,
        print("--joint: --ground-order %zu: expected more than --poly-order, %zu: orders of "
              "azimuth to that are not fitted",
              *wishes.ground.order, *wishes.polynomial));
  }
}

constexpr std::size_t kMostMatrixNside = 4096;

/// What an observation matrix goes with.
void check_matrix_options(const MapJob& job) {
  if (job.obs_matrix.empty()) {
    if (!job.obs_matrix_weighted) return;
    throw Error(Status::kUsage, "--obs-matrix-weighted: expected --obs-matrix, which it is of");
  }
  if (!job.filters.joint.on) {
    throw Error(Status::kUsage, "--obs-matrix: expected --joint, whose filter it is of");
  }
  if (!job.wcs && job.nside > kMostMatrixNside) {
    throw Error(Status::kUsage,
                print("--obs-matrix with --nside %zu: expected %zu at most, or --wcs: "
                      "a matrix has less than 2^31 rows",
                      std::size_t{job.nside}, kMostMatrixNside));
  }
  if (!job.checkpoint.empty() && Checkpoint::has_name(job.checkpoint, job.obs_matrix)) {
    throw Error(Status::kUsage, "--obs-matrix " + job.obs_matrix + ": is a name of --checkpoint " +
                                    job.checkpoint + ", whose files are removed in the end");
  }
  if (!job.filters.common_mode && !job.demodulation.on) return;
  throw Error(Status::kUsage, std::string("--obs-matrix with ") +
                                  (job.demodulation.on ? "--demodulate" : "--common-mode") +
                                  ": expected one of them");
}

/// Options that would be passed over.
void check_options(const MapJob& job) {
  if (job.prior && job.step_s == 0) {
    throw Error(
        Status::kUsage,
        "--prior with --step 0: expected one of them, an offset alone follows no other one");
  }
  if (job.prior && job.binned_only) {
    throw Error(Status::kUsage, "--prior with --binned-only: expected one of them");
  }
  if (job.wcs && (job.nside != MapJob().nside || job.ordering != MapJob().ordering)) {
    throw Error(Status::kUsage, std::string("--wcs with ") +
                                    (job.nside != MapJob().nside ? "--nside" : "--ordering") +
                                    ": expected one of them, a flat grid has no such pixels");
  }
  if (job.correlation_s != MapJob().correlation_s && job.method != MapMethod::kGls) {
    throw Error(Status::kUsage, "--correlation: expected --method gls, which it is of");
  }
  const DeglitchOptions &deglitch = job.filters.deglitch, usual;
  if (!(deglitch.sigmas > 0) &&
      (deglitch.window != usual.window || deglitch.radius != usual.radius)) {
    throw Error(Status::kUsage, std::string(deglitch.window != usual.window ? "--deglitch-window"
                                                                            : "--deglitch-radius") +
                                    ": expected --deglitch, which it is of");
  }
  check_plate_options(job);
  check_joint_options(job);
  check_matrix_options(job);
  const GroundTemplate& ground = job.filters.ground;
  if (ground.order && ground.bin_deg > 0) {
    throw Error(Status::kUsage, "--ground-order with --ground-bins: expected one of them");
  }
  if (!ground.any() && (ground.split || ground.trend != GroundTemplate().trend)) {
    throw Error(Status::kUsage, std::string(ground.split ? "--ground-split" : "--ground-trend") +
                                    ": expected --ground-order or --ground-bins, which it is of");
  }
}

/// What --prior and --method gls ask the data for.
void check_spectra(const TodSource& source, const MapJob& job) {
  if (!job.prior && job.method != MapMethod::kGls) return;
  for (std::size_t i = 0; i < source.observations(); ++i) {
    if (source.has_spectra(i)) continue;
    throw Error(kNoiseModel, source.observation(i).name +
                                 ": its noise model has weights alone, no spectra, which " +
                                 (job.prior ? "--prior asks for" : "--method gls asks for"));
  }
}

}  // namespace

void check_map_wishes(const TodSource& source, const MapJob& job) {
  check_gls(job);
  check_options(job);
  check_spectra(source, job);
}

}  // namespace skyloom
