// SPDX-License-Identifier: BSD-3-Clause
// The exact engine against the dense exact solution of a bundle of a DESI-sized frame with a real
// PSF, and of one with dead blocks and columns, saturated rows and a grid that leaves the CCD.
// Needs FIBERLOOM_PARITY_DIR.
#include <cstdio>

#include "fiberloom/foundation.hpp"
#include "loom/runtime/executors.hpp"
#include "tests/fiberloom/parity/parity.hpp"

namespace fiberloom {
namespace {

void print(const char* what, const Largest& d) {
  std::printf("    %s: pull %.2e, ivar %.1e, RESOLUTION %.1e, masked on one side only: %zu\n", what,
              d.pull, d.ivar, d.resolution, d.zeros_differ);
}

TEST_F(Parity, TheExactEngineReproducesTheDenseSolution) {
  load("00000011");
  options_.wave = linear_wave_grid(5760, 7620, 0.8);
  const auto executor = make_executor(0);
  const Largest d = differences(extract_exact(ccd_, psf_, options_, *executor),
                                read_frame(dir_ + "exact.fits.gz"), 0);
  print("clean", d);
  EXPECT_EQ(d.zeros_differ, 0U);
  EXPECT_LT(d.pull, 1e-5);
  EXPECT_LT(d.ivar, 1e-6);
  EXPECT_LT(d.resolution, 1e-6);
}

TEST_F(Parity, TheExactEngineReproducesTheDenseSolutionAmongDefects) {
  load("00000012");
  options_.spec_min = 250;
  const auto executor = make_executor(0);
  for (const bool low : {true, false}) {
    options_.wave = low ? linear_wave_grid(5540, 5760, 0.8) : linear_wave_grid(7640, 7840, 0.8);
    const ExtractResult mine = extract_exact(ccd_, psf_, options_, *executor);
    const std::string name = low ? "defects-lo-exact.fits.gz" : "defects-hi-exact.fits.gz";
    const Largest d = differences(mine, read_frame(dir_ + name), 0, 0.1);
    print(name.c_str(), d);
    EXPECT_EQ(d.zeros_differ, 0U) << "unconstrained bins are the same ones";
    EXPECT_LT(d.pull, 1e-3);
    EXPECT_LT(d.ivar, 1e-4);
    EXPECT_LT(d.resolution, 1e-5);
    for (std::size_t s = 0; s < mine.flux.rows(); ++s) {
      for (std::size_t j = 0; j < mine.flux.cols(); ++j) {
        if (mine.ivar(s, j) != 0) continue;
        ASSERT_EQ(mine.flux(s, j), 0.0);
        ASSERT_NE(mine.mask(s, j) & kAllBadPix, 0U);
      }
    }
  }
}

}  // namespace
}  // namespace fiberloom
