// SPDX-License-Identifier: BSD-3-Clause
// What the parity tests share: the data of FIBERLOOM_PARITY_DIR and the measure of agreement.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "fiberloom/extract/extract.hpp"
#include "fiberloom/formats/formats.hpp"

namespace fiberloom {

inline constexpr std::size_t kFibers = 25;
inline constexpr std::uint32_t kAnyBit = 0xFFFFFFFFU;  // the peers drop a pixel of any mask bit

struct Largest {
  double pull = 0, ivar = 0, chi2pix = 0, resolution = 0;
  std::size_t zeros_differ = 0;
};

/// Largest differences of the bins that b has, which start at bin `offset` of b. Bins of which a
/// share `phi` of the light or less fell on good pixels count for zeros_differ alone.
inline Largest differences(const ExtractResult& a, const FrameFile& b, std::size_t offset,
                           double phi = 0) {
  Largest d;
  const std::size_t nwave = a.flux.cols();
  for (std::size_t s = 0; s < a.flux.rows(); ++s) {
    for (std::size_t j = 0; j < nwave; ++j) {
      const double ia = a.ivar(s, j), ib = b.ivar(s, j + offset);
      if ((ia == 0) != (ib == 0)) ++d.zeros_differ;
      if (ia == 0 || ib == 0 || 1 - a.pixmask_fraction(s, j) <= phi) continue;
      const double flux = std::abs(a.flux(s, j) - b.flux(s, j + offset));
      d.pull = std::max(d.pull, flux / std::sqrt(1 / ia + 1 / ib));
      d.ivar = std::max(d.ivar, std::abs(ia / ib - 1));
      if (!b.chi2pix.empty()) {
        const double reference = b.chi2pix(s, j + offset);
        d.chi2pix = std::max(d.chi2pix, std::abs(a.chi2pix(s, j) / reference - 1));
      }
      const std::size_t ndiag = a.resolution.rows(), half = ndiag / 2;
      for (std::size_t k = 0; !b.resolution.empty() && k < ndiag; ++k) {
        if (j + k < half || j + k - half >= nwave) continue;  // rows outside the grid: junk there
        const double r = b.resolution(s, k, j + offset);
        d.resolution = std::max(d.resolution, std::abs(a.resolution(s, k, j) - r));
      }
    }
  }
  return d;
}

class Parity : public testing::Test {
 protected:
  void SetUp() override {
    const char* dir = std::getenv("FIBERLOOM_PARITY_DIR");
    if (dir == nullptr || *dir == '\0') GTEST_SKIP() << "FIBERLOOM_PARITY_DIR is not set";
    dir_ = std::string(dir) + "/";
    psf_ = read_psf(dir_ + "psf-r0-00067784.fits").model;
    options_.nspec = static_cast<int>(kFibers);
  }

  void load(const std::string& exposure) {
    PreprocFile file = read_preproc(dir_ + "preproc-r0-" + exposure + ".fits.gz");
    ccd_ = std::move(file.ccd);
    apply_mask(ccd_, file.mask, kAnyBit);
  }

  std::string dir_;
  PsfModel psf_;
  CcdFrame ccd_;
  ExtractOptions options_;
};

}  // namespace fiberloom
