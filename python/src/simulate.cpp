// SPDX-License-Identifier: BSD-3-Clause
// Simulated cameras (to files) and small frames (in memory).
#include <pybind11/stl.h>

#include <tuple>

#include "arrays.hpp"
#include "bindings.hpp"
#include "fiberloom/recipes/simulate_camera.hpp"
#include "fiberloom/simulate/sky_lines.hpp"
#include "fiberloom/simulate/small_frame.hpp"
#include "loom/runtime/executors.hpp"
#include "watch.hpp"

namespace fiberloom::python {
namespace {

std::vector<std::string> simulate(const py::dict& o, std::size_t threads,
                                  const py::object& progress) {
  SimulateJob job;
  job.directory = o["directory"].cast<std::string>();
  job.cameras = o["cameras"].cast<std::vector<std::string>>();
  job.nspec = o["nspec"].cast<int>();
  job.exposures = o["exposures"].cast<int>();
  job.seed = o["seed"].cast<std::uint64_t>();
  job.psf = o["psf"].cast<std::string>();
  job.defects = o["defects"].cast<bool>() ? WithDefects::kYes : WithDefects::kNo;
  job.truth_grid = o["truth_grid"].cast<std::string>() == "extraction" ? TruthGrid::kExtraction
                                                                       : TruthGrid::kFine;
  job.overwrite = o["overwrite"].cast<bool>() ? Overwrite::kYes : Overwrite::kNo;
  Watch watch(progress);
  return watch.run([&](const Observer& observer) {
    const auto executor = make_executor(threads);
    return simulate_cameras(job, *executor, observer).files;
  });
}

py::dict simulate_frame(const py::dict& o, std::size_t threads) {
  SmallFrameOptions options;
  options.nfiber = o["nfiber"].cast<int>();
  options.nwave = o["nwave"].cast<std::size_t>();
  options.wave_first_aa = o["wave_first"].cast<double>();
  options.step_aa = o["step"].cast<double>();
  options.noise = o["noise"].cast<bool>() ? FrameNoise::kPoissonAndRead : FrameNoise::kNone;
  options.readnoise_e = o["readnoise"].cast<double>();
  options.seed = o["seed"].cast<std::uint64_t>();
  SmallFrame frame = Watch().run([&](const Observer&) {
    const auto executor = make_executor(threads);
    return make_small_frame(options, *executor);
  });
  PsfFile psf;
  psf.model = std::move(frame.psf);
  py::dict out;
  out["psf"] = PyPsf{std::make_shared<const PsfFile>(std::move(psf))};
  out["wave"] = to_numpy(std::move(frame.wave));
  out["lit_wave"] = to_numpy(std::move(frame.lit_wave));
  out["first_bin"] = frame.first_bin;
  out["electrons"] = to_numpy(std::move(frame.electrons));
  out["mean"] = to_numpy(std::move(frame.mean));
  out["image"] = to_numpy(std::move(frame.image));
  out["ivar"] = to_numpy(std::move(frame.ivar));
  return out;
}

/// (vacuum wavelength, strength, name) of each line of the night sky.
std::vector<std::tuple<double, double, std::string>> sky_lines() {
  std::vector<std::tuple<double, double, std::string>> lines;
  for (const SkyLine& line : night_sky_lines()) {
    lines.emplace_back(line.wave_aa, line.strength, line.name);
  }
  return lines;
}

}  // namespace

void bind_simulate(py::module_& m) {
  m.def("simulate", &simulate);
  m.def("simulate_frame", &simulate_frame);
  m.def("sky_lines", &sky_lines);
}

}  // namespace fiberloom::python
