// SPDX-License-Identifier: BSD-3-Clause
// Arrays of a simulated satellite or of scans from the ground, and the schedules of these.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "job_options.hpp"
#include "loom/runtime/executors.hpp"
#include "skyloom/recipes/schedule_option_table.hpp"
#include "skyloom/recipes/simulate_option_table.hpp"
#include "skyloom/recipes/simulation.hpp"
#include "skyloom/tod/simulated_tod.hpp"

namespace skyloom::python {
namespace {

/// `sky`: [pixel, NESTED][I, Q, U], or none of them.
std::shared_ptr<const SkyMap> sky_of(const Input<float>& sky) {
  if (sky.size() == 0) return nullptr;
  require_shape(sky, {0, 3}, "sky");
  auto out = std::make_shared<SkyMap>();
  out->pixels = Healpix(nside_of(static_cast<std::int64_t>(extent(sky, 0))));
  const auto from = values(sky);
  out->values.assign(from.begin(), from.end());
  return out;
}

py::dict observation_of(const SimulatedTod& source, std::size_t number, std::size_t threads) {
  const Observation& about = source.observation(number);
  const std::size_t n = about.samples, detectors = about.plane.detectors.size();
  Doubles signal({static_cast<py::ssize_t>(detectors), static_cast<py::ssize_t>(n)});
  Doubles quaternions({static_cast<py::ssize_t>(n), py::ssize_t{4}});
  double* const to = signal.mutable_data();
  const Boresight boresight = source.boresight(number);
  {
    const py::gil_scoped_release release;
    const auto executor = make_executor(threads);
    source.prepare(number, boresight, *executor, {});
    const std::size_t pairs = (detectors + 1) / 2, at_once = 4 * executor->concurrency();
    for (std::size_t begin = 0; begin < pairs; begin += at_once) {
      look_for_signals();
      executor->run(std::min(at_once, pairs - begin), [&](std::size_t i) {
        const std::size_t first = 2 * (begin + i),
                          count = std::min<std::size_t>(2, detectors - first);
        std::vector<std::uint8_t> flags(2 * n);
        Signal signals[2];
        for (std::size_t d = 0; d < count; ++d) {
          signals[d] = {{to + (first + d) * n, n}, {flags.data() + d * n, n}};
        }
        source.read(number, boresight, first, {signals, count});
      });
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < 4; ++k) quaternions.mutable_data()[4 * i + k] = boresight(k, i);
  }
  py::list weights, noise;
  for (std::size_t d = 0; d < detectors; ++d) {
    weights.append(sample_weight(about.plane.detectors[d], about.plane.rate_hz));
    const NoisePsd psd = source.noise(number, d);
    noise.append(py::make_tuple(psd.frequency_hz, psd.psd));
  }
  py::dict out;
  out["weights"] = weights;
  out["noise"] = noise;
  out["name"] = about.name;
  out["start"] = about.start_s;
  out["signal"] = signal;
  out["boresight"] = quaternions;
  if (const auto motion = source.motion(number)) {
    out["azimuth"] = Doubles(static_cast<py::ssize_t>(n), motion->azimuth.data());
    Input<std::uint8_t> flags(static_cast<py::ssize_t>(n), motion->flags.data());
    out["shared_flags"] = flags;
    out["shared_mask"] = kSharedMask;
    if (!about.stretches.empty()) {
      py::list intervals;
      for (const Stretch& one : about.stretches) {
        intervals.append(py::make_tuple(one.first, one.end));
      }
      out["intervals"] = intervals;
    }
  }
  if (has_plate(boresight)) {
    out["hwp_angle"] = Doubles(static_cast<py::ssize_t>(n), boresight.row(kPlateAngle));
  }
  return out;
}

/// `files`: schedule, schedule_text, focal_plane, where they are there; `ground`: a map of the
/// horizon as `sky` is one.
py::dict simulate(const Input<float>& sky, const py::dict& options, const py::dict& files,
                  const Input<float>& ground, std::size_t threads) {
  auto job = job_of(simulate_option_rows(), options);
  const auto file = [&](const char* name) {
    return files.contains(name) ? files[name].cast<std::string>() : std::string();
  };
  job.schedule = file("schedule");
  job.focal_plane = file("focal_plane");
  if (const std::string text = file("schedule_text"); !text.empty()) {
    job.simulation.schedule =
        std::make_shared<const GroundSchedule>(parse_schedule(text, "schedule"));
  }
  job.simulation.ground.map = sky_of(ground);
  const SimulatedTod source(simulation_of(job), sky_of(sky));
  py::dict out;
  py::list observations;
  for (std::size_t i = 0; i < source.observations(); ++i) {
    observations.append(observation_of(source, i, threads));
  }
  out["observations"] = observations;
  out["rate"] = job.simulation.plane.rate_hz;
  out["detectors"] = detectors_of(source.observation(0).plane);
  return out;
}

std::string schedule(const py::dict& options) {
  const auto job = job_of(schedule_option_rows(), options);
  const py::gil_scoped_release release;
  Observer observer;
  observer.stop_requested = [] {
    look_for_signals();
    return false;
  };
  return schedule_text(make_schedule(job, observer));
}

}  // namespace

void add_simulation(py::module_& m) {
  m.def("simulate", &simulate);
  m.def("schedule", &schedule);
  m.attr("simulate_options") = keys_of(simulate_option_rows());
  m.attr("schedule_options") = keys_of(schedule_option_rows());
}

}  // namespace skyloom::python
