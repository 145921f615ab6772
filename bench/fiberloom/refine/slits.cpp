// SPDX-License-Identifier: BSD-3-Clause
// What the rows BUNDLE and STATUS of a PSF bring: slits of 40 fibres that blocks of 25 cut where
// light goes across, and a fibre that the PSF has no fit of.
#include <cmath>
#include <cstdio>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "bench/fiberloom/refine/experiments.hpp"
#include "bench/fiberloom/refine/pulls.hpp"
#include "fiberloom/formats/psf_parts.hpp"
#include "fiberloom/simulate/project.hpp"
#include "fiberloom/simulate/simulated_psf.hpp"
#include "fiberloom/spectrum/wave_grid.hpp"
#include "loom/runtime/executors.hpp"

namespace fiberloom::bench {
namespace {

constexpr double kFirst = 6000, kStep = 0.8, kReadNoise = 3;
constexpr int kSlit = 40, kFibers = 2 * kSlit;
constexpr std::size_t kUnfit = 12;  // the fibre without a fit

/// Frames of one truth, and the extraction that they are for.
struct Scene {
  PsfModel psf;  ///< that light goes through
  std::vector<double> lit;
  Array2D<double> electrons, truth;
  Array2D<double> mean;
  ExtractOptions options;
};

Scene make_scene(const SlitExperiment& e, int nfiber, bool dead, Executor& executor) {
  Scene scene;
  const double last = kFirst + kStep * static_cast<double>(e.nwave - 1);
  SimulatedPsfOptions shape = small_psf_options(nfiber, kFirst, last, 60);
  shape.bundle_size = kSlit;
  shape.crosstalk = e.crosstalk;
  scene.psf = make_psf(shape);
  scene.options.wave = linear_wave_grid(kFirst, last, kStep);
  scene.lit = lit_wave_grid(scene.psf, kFirst, kStep, kStep);
  const auto start = static_cast<std::size_t>(std::lround((kFirst - scene.lit.front()) / kStep));
  const auto rows = static_cast<std::size_t>(nfiber);
  scene.electrons = Array2D<double>(rows, scene.lit.size(), 0.0);
  scene.truth = Array2D<double>(rows, scene.options.wave.size());
  for (std::size_t f = 0; f < rows; ++f) {
    const double level = f % 2 == 0 ? 40 : 1000;  // faint ones between bright ones
    for (std::size_t j = 0; j < scene.lit.size(); ++j) {
      if (dead && f == kUnfit) continue;
      scene.electrons(f, j) = level + (j % 40 == 20 ? 2000 : 0);
    }
    for (std::size_t j = 0; j < scene.truth.cols(); ++j)
      scene.truth(f, j) = scene.electrons(f, start + j) / kStep;
  }
  scene.mean = project(scene.psf, scene.lit, scene.electrons, executor);
  return scene;
}

/// The fibres in groups, and how each fared.
struct Way {
  std::string name;
  std::vector<Pulls> of_group;
};

constexpr std::size_t kNotJudged = std::numeric_limits<std::size_t>::max();

template <class GroupOf>
void judge(const ExtractResult& result, const Scene& scene, const GroupOf& group_of, Way& way) {
  const auto truth_of = [&](std::size_t f) {
    return std::span(scene.truth.row(f), scene.truth.cols());
  };
  for_bins(result, 20, truth_of, [&](std::size_t f, double flux, double expected, double ivar) {
    if (group_of(f) != kNotJudged) way.of_group[group_of(f)].add(flux, expected, ivar);
  });
}

CcdFrame noisy(const Scene& scene, const SlitExperiment& e, int frame, Executor& executor) {
  return noisy_frame(scene.mean, kReadNoise, e.seed + static_cast<std::uint64_t>(frame), executor);
}

void print(const char* groups, const std::vector<Way>& ways) {
  std::printf("mean pull, rms, flux off, of: %s\n", groups);
  for (const Way& way : ways) {
    std::printf("%-44s", way.name.c_str());
    for (const Pulls& p : way.of_group) p.print();
    std::printf("\n");
  }
}

/// Blocks of 25 are cut in the middle of a slit of 40.
void cut_slits(const SlitExperiment& e, Executor& executor) {
  const Scene scene = make_scene(e, kFibers, false, executor);
  std::vector<Way> ways{{"blocks of 25 (the default)", std::vector<Pulls>(3)},
                        {"--bundlesize 0, the row BUNDLE", std::vector<Pulls>(3)}};
  const auto group_of = [](std::size_t f) -> std::size_t {
    const bool at_cut = f == 24 || f == 25 || f == 49 || f == 50 || f == 74 || f == 75;
    if (!at_cut) return 2;
    return f % 2 == 0 ? 0 : 1;
  };
  for (int i = 0; i < e.frames; ++i) {
    const CcdFrame ccd = noisy(scene, e, i, executor);
    for (const bool whole : {false, true}) {
      ExtractOptions options = scene.options;
      options.bundle_size = whole ? 0 : 25;
      judge(extract_exact(ccd, scene.psf, options, executor), scene, group_of, ways[whole ? 1 : 0]);
    }
  }
  std::printf("two slits of %d fibres, crosstalk %g, %d frames\n", kSlit, e.crosstalk, e.frames);
  print("faint fibres at a cut | bright ones there | others", ways);
}

/// The fit of one fibre went astray to its neighbour, and says so in STATUS.
void fibre_without_a_fit(const SlitExperiment& e, bool dead, Executor& executor) {
  const Scene scene = make_scene(e, kSlit, dead, executor);
  PsfModel astray = scene.psf;
  for (std::size_t k = 0; k < astray.x.coef.cols(); ++k)
    astray.x.coef(kUnfit, k) = astray.x.coef(kUnfit + 1, k);
  for (std::size_t k = 0; k < astray.y.coef.cols(); ++k)
    astray.y.coef(kUnfit, k) = astray.y.coef(kUnfit + 1, k);
  astray.x.coef(kUnfit, 0) -= 0.5;
  astray.status.assign(static_cast<std::size_t>(kSlit), 0);
  astray.status[kUnfit] = 1;
  PsfModel without = astray;
  formats::switch_off_unfit_fibers(without);
  std::vector<Way> ways{{"the PSF as it should be", std::vector<Pulls>(3)},
                        {"the fit that went astray", std::vector<Pulls>(3)},
                        {"--psf-status", std::vector<Pulls>(3)}};
  const auto group_of = [](std::size_t f) -> std::size_t {
    if (f == kUnfit) return kNotJudged;
    if (f == kUnfit + 1) return 0;
    return f + 1 == kUnfit ? 1 : 2;
  };
  ExtractOptions options = scene.options;
  options.bundle_size = kSlit;
  const PsfModel* psf[] = {&scene.psf, &astray, &without};
  for (int i = 0; i < e.frames; ++i) {
    const CcdFrame ccd = noisy(scene, e, i, executor);
    for (std::size_t k = 0; k < ways.size(); ++k)
      judge(extract_exact(ccd, *psf[k], options, executor), scene, group_of, ways[k]);
  }
  std::printf("fibre %zu of %d has no fit and %s\n", kUnfit, kSlit,
              dead ? "no light" : "light like the others");
  print("the neighbour it went to | the other neighbour | others", ways);
}

}  // namespace

void run(const SlitExperiment& e) {
  const auto executor = make_executor(0);
  cut_slits(e, *executor);
  for (const bool dead : {true, false}) fibre_without_a_fit(e, dead, *executor);
}

}  // namespace fiberloom::bench
