// SPDX-License-Identifier: BSD-3-Clause
// The library from C++: simulates a frame, extracts it, compares the spectra with what was
// simulated, by the recipes that `fiberloom simulate`, `extract` and `compare` call. scripts/demo
// builds and runs it first, since it needs a third of what the program needs.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "fiberloom/recipes/compare_truth.hpp"
#include "fiberloom/recipes/extract_frame.hpp"
#include "fiberloom/recipes/simulate_camera.hpp"
#include "loom/runtime/executors.hpp"

int main(int argc, char** argv) try {
  using namespace fiberloom;
  const int fibers = argc == 3 ? std::atoi(argv[2]) : 500;
  if (argc < 2 || argc > 3 || fibers < 1 || fibers > 500) {
    std::fputs("usage: first_look DIR [FIBRES]\n", stderr);
    return 2;
  }
  const std::string folder = argv[1];
  const auto executor = make_executor(0);  // a thread a core

  SimulateJob camera;  // r0, one exposure
  camera.nspec = fibers;
  camera.directory = folder;
  camera.truth_grid = TruthGrid::kExtraction;
  (void)simulate_cameras(camera, *executor);

  ExtractJob frame;
  frame.image = folder + "/preproc-r0-00000001.fits";
  frame.psf = folder + "/psf-r0.fits";
  frame.output = folder + "/frame-r0-00000001.fits";
  frame.wave = {5760.0, 7620.0, 0.8};
  const ExtractSummary summary = extract_frame(frame, Engine(), *executor);
  std::printf(
      "extracted %zu spectra of %zu bins: %.2f s, %.2f CPU-seconds; reading %.2f s, writing %.2f "
      "s\n",
      summary.nspec, summary.nwave, summary.compute.wall_s, summary.compute.cpu_s,
      summary.read.wall_s, summary.write.wall_s);

  const TruthComparison seen = compare_truth(
      read_frame(frame.output), read_truth(folder + "/truth-r0-00000001.fits"), {}, 25);
  std::puts("pulls, (flux - R truth) / sigma:       bins      mean    width");
  const auto row = [](const TruthComparison::Row& r) {
    if (r.pulls.count() == 0) return;
    std::printf("  %-18s           %10zu  %+8.4f  %7.4f\n", r.name.c_str(), r.pulls.count(),
                r.pulls.mean(), r.pulls.width());
  };
  row(seen.all);
  for (const TruthComparison::Row& r : seen.by_brightness) row(r);
  const bool right =
      std::abs(seen.all.pulls.mean()) < 0.02 && std::abs(seen.all.pulls.width() - 1) < 0.02;
  return right ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "first_look: %s\n", e.what());
  return 1;
}
