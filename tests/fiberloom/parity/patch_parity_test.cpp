// SPDX-License-Identifier: BSD-3-Clause
// The patch engine against gpu_specter and specter, and the oracle against the exact solution, on
// one bundle of a DESI-sized frame. Needs the parity data: FIBERLOOM_PARITY_DIR.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "fiberloom/extract/extract.hpp"
#include "fiberloom/formats/formats.hpp"
#include "loom/fits/fits_reader.hpp"
#include "loom/runtime/executors.hpp"
#include "tests/fiberloom/oracle/dense_oracle.hpp"
#include "tests/fiberloom/parity/parity.hpp"

namespace fiberloom {
namespace {

/// specter's file has no WAVELENGTH, so it is no frame to read_frame().
struct SpecterFile {
  FrameFile frame;
  Array2D<double> pixmask_fraction;
};

SpecterFile read_specter(const std::string& path, std::size_t nfiber, std::size_t nwave) {
  const auto file = fits::FitsReader::open(path);
  SpecterFile out;
  const auto image = [&](const char* name) {
    Array2D<double> a(nfiber, nwave);
    file.read_pixels<double>(file.require(name), {a.data(), a.size()});
    return a;
  };
  out.frame.flux = image("FLUX");
  out.frame.ivar = image("IVAR");
  out.pixmask_fraction = image("PIXMASK");
  out.frame.resolution = Array3D<float>(nfiber, 11, nwave);
  file.read_pixels<float>(file.require("RESOLUTION"),
                          {out.frame.resolution.data(), out.frame.resolution.size()});
  return out;
}

TEST_F(Parity, ThePatchEngineReproducesThePeers) {
  load("00000011");
  options_.wave = linear_wave_grid(5760, 7620, 0.8);
  const auto executor = make_executor(0);
  const ExtractResult mine = extract_patch(ccd_, psf_, options_, *executor);

  const Largest gpu = differences(mine, read_frame(dir_ + "gpu_specter.fits.gz"), 0);
  EXPECT_EQ(gpu.zeros_differ, 0U);
  EXPECT_LT(gpu.pull, 1e-5);  // the rest is float32 of the stored file
  EXPECT_LT(gpu.ivar, 1e-6);
  EXPECT_LT(gpu.chi2pix, 1e-6);
  EXPECT_LT(gpu.resolution, 1e-6);

  // specter pads its patches otherwise
  const SpecterFile other = read_specter(dir_ + "specter.fits.gz", kFibers, options_.wave.size());
  const Largest specter = differences(mine, other.frame, 0);
  EXPECT_LT(specter.pull, 0.05);
  EXPECT_LT(specter.ivar, 2e-4);
  EXPECT_LT(specter.resolution, 1e-4);
  double lost = 0;
  for (std::size_t k = 0; k < mine.pixmask_fraction.size(); ++k) {
    lost = std::max(lost,
                    std::abs(mine.pixmask_fraction.data()[k] - other.pixmask_fraction.data()[k]));
  }
  EXPECT_LT(lost, 1e-6);
}

TEST_F(Parity, ThePatchEngineStaysNearTheExactSolutionAmongDefects) {
  load("00000012");
  options_.spec_min = 250;
  const auto executor = make_executor(0);
  for (const bool low : {true, false}) {
    options_.wave = low ? linear_wave_grid(5540, 5760, 0.8) : linear_wave_grid(7640, 7840, 0.8);
    const ExtractResult mine = extract_patch(ccd_, psf_, options_, *executor);
    const std::string name = low ? "defects-lo-exact.fits.gz" : "defects-hi-exact.fits.gz";
    EXPECT_LT(differences(mine, read_frame(dir_ + name), 0).pull, 0.1) << name;
  }
}

TEST_F(Parity, TheOracleReproducesTheExactSolution) {
  load("00000011");
  const auto grid = linear_wave_grid(5760, 7620, 0.8);
  const std::ptrdiff_t first = 800, n = 51;
  options_.wave.assign(grid.begin() + first, grid.begin() + first + n);
  const ExtractResult mine = oracle::dense_oracle(ccd_, psf_, options_, 60);
  const Largest d = differences(mine, read_frame(dir_ + "exact.fits.gz"), 800);
  EXPECT_EQ(d.zeros_differ, 0U);
  EXPECT_LT(d.pull, 1e-9);
  EXPECT_LT(d.ivar, 1e-9);
  EXPECT_LT(d.resolution, 1e-7);  // stored as float32
}

// That file was made in blocks of 150 bins with skirts of 50, the prior scaled by the median of
// each block: only the same block gives the same numbers beside unconstrained bins.
TEST_F(Parity, TheOracleReproducesTheExactSolutionAtTheEndOfADefectiveCcd) {
  load("00000012");
  const auto grid = linear_wave_grid(7640, 7840, 0.8);
  options_.spec_min = 250;
  options_.wave.assign(grid.begin() + 150, grid.end());
  const ExtractResult mine = oracle::dense_oracle(ccd_, psf_, options_, 50);
  const Largest d = differences(mine, read_frame(dir_ + "defects-hi-exact.fits.gz"), 150);
  EXPECT_EQ(d.zeros_differ, 0U);
  EXPECT_LT(d.pull, 1e-8);
  EXPECT_LT(d.ivar, 1e-8);
}

}  // namespace
}  // namespace fiberloom
