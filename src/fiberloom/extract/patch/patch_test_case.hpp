// SPDX-License-Identifier: BSD-3-Clause
// For tests only: one patch of a small frame, and its spots dense.
#pragma once

#include <utility>
#include <vector>

#include "fiberloom/extract/patch/patch_pixels.hpp"
#include "fiberloom/extract/test_psf.hpp"
#include "loom/linalg/test_dense.hpp"

namespace fiberloom::patch {

/// The middle patch of three fibres: fibre 1 is kept, its neighbours are solved for with it.
struct TestPatch {
  PsfModel psf = test::make_psf();
  CcdFrame ccd = test::make_frame(psf);
  std::size_t pad = 3;
  SpotTable spots;
  PatchPlan plan{1, 2, 0, 3, 3, 10, 8};

  explicit TestPatch(double step = 0.9) {
    const std::vector<double> wave = test::make_grid(static_cast<int>(plan.nwave + 2 * pad), step);
    spots.nwave = wave.size();
    for (std::size_t f = 0; f < 3; ++f) {
      for (const double w : wave) spots.spot.push_back(spot_reference(psf, f, w));
    }
  }
  [[nodiscard]] Array2D<double>& image() { return std::get<Array2D<double>>(ccd.image.data()); }
  [[nodiscard]] Array2D<double>& ivar() { return std::get<Array2D<double>>(ccd.ivar.data()); }
  [[nodiscard]] std::size_t unknowns() const { return spots.spot.size(); }
  /// Of spot u at a pixel of the CCD.
  [[nodiscard]] double value(std::size_t u, int x, int y) const {
    const Spot& s = spots.spot[u];
    if (x < s.x0 || y < s.y0 || x >= s.x0 + s.nx || y >= s.y0 + s.ny) return 0.0;
    return s.value[static_cast<std::size_t>((y - s.y0) * s.nx + x - s.x0)];
  }
  /// Rows of the CCD that the patch takes, by the rule in patch_solve.hpp.
  [[nodiscard]] std::pair<int, int> rows(double pixpad_frac) const {
    int all0 = psf.npix_y, all1 = 0, core0 = psf.npix_y, core1 = 0;
    for (std::size_t u = 0; u < unknowns(); ++u) {
      const Spot& s = spots.spot[u];
      const std::size_t bin = u % spots.nwave;
      all0 = std::min(all0, s.y0), all1 = std::max(all1, s.y0 + s.ny);
      if (bin < pad || bin >= pad + plan.nwave) continue;
      core0 = std::min(core0, s.y0), core1 = std::max(core1, s.y0 + s.ny);
    }
    return {all0 + static_cast<int>((core0 - all0) * (1 - pixpad_frac)),
            core1 + static_cast<int>((all1 - core1) * pixpad_frac)};
  }
  /// sum over the patch's pixels of f(x, y)
  template <class F>
  [[nodiscard]] double over_pixels(double pixpad_frac, F f) const {
    const auto [first, last] = rows(pixpad_frac);
    double sum = 0;
    for (int y = std::max(first, 0); y < std::min(last, psf.npix_y); ++y) {
      for (int x = 0; x < psf.npix_x; ++x) sum += f(x, y);
    }
    return sum;
  }
  [[nodiscard]] double weight(int x, int y) const {
    return ccd.ivar.at(static_cast<std::size_t>(y), static_cast<std::size_t>(x));
  }
  [[nodiscard]] double pixel(int x, int y) const {
    return ccd.image.at(static_cast<std::size_t>(y), static_cast<std::size_t>(x));
  }
  /// A^T W A
  [[nodiscard]] test::Dense normal(double pixpad_frac) const {
    test::Dense n(unknowns());
    for (std::size_t a = 0; a < n.n; ++a) {
      for (std::size_t b = a; b < n.n; ++b) {
        const Spot &s = spots.spot[a], &t = spots.spot[b];
        if (std::abs(s.y0 - t.y0) >= s.ny || std::abs(s.x0 - t.x0) >= s.nx) continue;
        n(a, b) = n(b, a) = over_pixels(pixpad_frac, [&](int x, int y) {
          return value(a, x, y) * weight(x, y) * value(b, x, y);
        });
      }
    }
    return n;
  }
};

}  // namespace fiberloom::patch
