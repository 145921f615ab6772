// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/simulate/exposure.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "fiberloom/simulate/project.hpp"
#include "fiberloom/simulate/simulated_psf.hpp"
#include "fiberloom/simulate/spectra.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"
#include "loom/base/rng.hpp"
#include "loom/base/stop.hpp"

namespace fiberloom {
namespace {

void check(const ExposureOptions& o) {
  const auto fail = [](const std::string& what) {
    throw Error(Status::kUsage, "simulate: " + what);
  };
  if (o.spectrograph < 0 || o.spectrograph > 9) fail("spectrographs are numbered 0 to 9");
  if (o.nspec < 1) fail("nspec must be at least 1");
  if (o.expid < 0) fail("the exposure number is negative");
  if (!(o.exptime_s > 0)) fail("the exposure time must be positive");
  if (!(o.fine_step_aa > 0)) fail("the step of the truth must be positive");
}

int lit_fibers(const PsfModel& psf, const ExposureOptions& o) {
  return std::min(o.nspec, psf.nfiber());
}

StreamOwner owner_of(const ExposureOptions& o) {
  return {camera_number(o.band, o.spectrograph), static_cast<std::uint64_t>(o.expid)};
}

}  // namespace

BinGrid truth_bins(const PsfModel& psf, const ExposureOptions& o) {
  check(o);
  const std::vector<double> grid = camera_wave_grid(o.band);
  const double tile = grid[1] - grid[0];
  BinGrid bins;
  bins.step_aa = o.truth_grid == TruthGrid::kFine ? o.fine_step_aa : tile;
  bins.wave = lit_wave_grid(psf, grid.front(), tile, bins.step_aa, 0, lit_fibers(psf, o));
  const double slack = 0.5 * tile + 1e-6;
  if (bins.wave.empty() || bins.wave.front() > grid.front() + slack ||
      bins.wave.back() < grid.back() - slack) {
    throw Error(kNotCovered, std::string("simulate: the PSF does not cover the grid of a ") +
                                 o.band + " camera");
  }
  return bins;
}

NoisyFrame expose_light(const PsfModel& psf, const ExposureOptions& o, const BinGrid& bins,
                        const Array2D<double>& electrons, Executor& executor,
                        const Observer& observer) {
  const StreamOwner owner = owner_of(o);
  std::atomic<std::size_t> done{0};
  const auto projected = [&](std::size_t n) {
    stop_if_asked(observer);
    if (observer.progress) observer.progress("project", done += n, electrons.rows());
  };
  const Array2D<double> mean = project(psf, bins.wave, electrons, executor, 0, projected);
  stop_if_asked(observer);
  NoisyFrame frame = add_noise(mean, {o.readnoise_e, o.variance, o.seed, owner}, executor);
  CosmicOptions cosmics;
  cosmics.tracks_per_ccd = o.cosmics_per_ccd;
  cosmics.seed = o.seed;
  cosmics.owner = owner;
  add_cosmics(frame, cosmics);
  if (o.defects) {
    DefectOptions defects = *o.defects;
    defects.seed = o.seed;
    defects.owner = {owner.camera, 0};  // a CCD keeps its defects from exposure to exposure
    add_defects(frame, defects);
  }
  return frame;
}

SimulatedExposure simulate_exposure(const PsfModel& psf, const ExposureOptions& o,
                                    Executor& executor, const Observer& observer) {
  const BinGrid bins = truth_bins(psf, o);
  const StreamOwner owner = owner_of(o);
  SimulatedExposure out;
  out.camera = {o.band, static_cast<char>('0' + o.spectrograph)};
  out.targets = make_targets(psf.nfiber(), o.spectrograph, o.seed);
  out.truth_wave = bins.wave;

  const std::vector<double> sky = sky_electrons(o.band, bins, o.exptime_s);
  const CounterRng throughput(o.seed, rng_stream(Draw::kThroughput, {owner.camera, 0}));
  Array2D<double> electrons(static_cast<std::size_t>(lit_fibers(psf, o)), bins.wave.size());
  executor.run(electrons.rows(), [&](std::size_t i) {
    const double fiber = 1.0 + 0.03 * std::clamp(throughput.normal(i), -3.0, 3.0);
    const auto target = target_electrons(out.targets[i], o.band, bins, o.exptime_s);
    for (std::size_t j = 0; j < sky.size(); ++j) electrons(i, j) = fiber * (sky[j] + target[j]);
  });
  stop_if_asked(observer);
  out.frame = expose_light(psf, o, bins, electrons, executor, observer);
  out.truth_flux = std::move(electrons);
  for (std::size_t k = 0; k < out.truth_flux.size(); ++k) out.truth_flux.data()[k] /= bins.step_aa;
  return out;
}

}  // namespace fiberloom
