// SPDX-License-Identifier: BSD-3-Clause
// For tests only: one bundle of a small frame as the engine sees it, and the same equations dense,
// from spot_reference() and plain loops.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fiberloom/extract/exact/bundle.hpp"
#include "fiberloom/extract/test_psf.hpp"
#include "loom/linalg/test_dense.hpp"

namespace fiberloom::exact {

/// Equations of all fibres of a PSF as one bundle, on a grid of its own without guard bins.
struct TestBundle {
  PsfModel psf;
  std::vector<double> wave;
  CcdFrame ccd;
  Isa isa = active_isa();
  SpotPlan plan = make_spot_plan(psf, wave);
  BundleGeometry geometry =
      bundle_geometry(plan, {0, psf.nfiber()}, spot_kernels(isa).spots, 1e-12);
  BundleWorkspace work;

  TestBundle(PsfModel p, std::vector<double> w) : TestBundle(std::move(p), std::move(w), 17) {}
  TestBundle(PsfModel p, std::vector<double> w, std::size_t bad_every)
      : psf(std::move(p)), wave(std::move(w)), ccd(test::make_frame(psf, bad_every)) {}

  [[nodiscard]] const PixelKernels& pixel() const { return pixel_kernels(isa); }
  [[nodiscard]] const BandedKernels& banded() const { return banded_kernels(isa); }
  NormalEquations& normal() { return work.normal; }
  [[nodiscard]] std::size_t nbin() const { return wave.size(); }
  [[nodiscard]] std::size_t size() const { return nbin() * static_cast<std::size_t>(psf.nfiber()); }

  void assemble_equations(int least_margin = 0) {
    load_strip(ccd, geometry, pixel(), work.strip);
    work.normal.resize(geometry, least_margin);
    assemble(plan, geometry, spot_kernels(isa).spots, pixel(), work.strip, work.spots, work.normal);
  }
  /// A vector over all unknowns, fibre after fibre, in the layout of n.rhs_ and back.
  [[nodiscard]] std::vector<double> spread(const std::vector<double>& x) {
    std::vector<double> out(work.normal.rhs_.size(), 0.0);
    for (std::size_t i = 0; i < x.size(); ++i) out[place(i)] = x[i];
    return out;
  }
  [[nodiscard]] std::vector<double> gather(const double* spread_out) {
    std::vector<double> x(size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = spread_out[place(i)];
    return x;
  }
  /// N as it stands in `normal`, whole.
  [[nodiscard]] test::Dense dense_of_normal() {
    const NormalEquations& n = work.normal;
    test::Dense m(size());
    const auto put = [&](int f, int j, int g, int k, double v) {
      if (k < 0 || k >= n.nbin) return;
      const auto r = static_cast<std::size_t>(f * n.nbin + j),
                 c = static_cast<std::size_t>(g * n.nbin + k);
      m(r, c) = m(c, r) = v;
    };
    for (int f = 0; f < n.nfiber; ++f) {
      for (int j = 0; j < n.nbin; ++j) {
        for (int d = 0; d <= n.band; ++d) put(f, j, f, j + d, n.own(f, d)[j]);
        for (int r = 1; r <= n.reach && f + r < n.nfiber; ++r) {
          for (int d = -n.cross_band; d <= n.cross_band; ++d)
            put(f, j, f + r, j + d, n.cross(r, f, d)[j]);
        }
      }
    }
    return m;
  }

 private:
  [[nodiscard]] std::size_t place(std::size_t unknown) const {
    const NormalEquations& n = work.normal;
    const std::size_t f = unknown / nbin(), j = unknown % nbin();
    return f * static_cast<std::size_t>(n.pitch) + static_cast<std::size_t>(n.margin) + j;
  }
};

/// A: for each unknown its spot on the CCD, row after row, cropped.
struct DenseSpots {
  std::size_t nx, ny, unknowns;
  std::vector<std::vector<double>> image;  ///< [unknown][ny nx]

  explicit DenseSpots(const TestBundle& b)
      : nx(static_cast<std::size_t>(b.psf.npix_x)),
        ny(static_cast<std::size_t>(b.psf.npix_y)),
        unknowns(b.size()) {
    for (std::size_t u = 0; u < unknowns; ++u) {
      const Spot s = spot_reference(b.psf, u / b.nbin(), b.wave[u % b.nbin()]);
      std::vector<double> pixels(nx * ny, 0.0);
      for (int r = 0; r < s.ny; ++r) {
        for (int c = 0; c < s.nx; ++c) {
          const int y = s.y0 + r, x = s.x0 + c;
          if (y < 0 || x < 0 || y >= b.psf.npix_y || x >= b.psf.npix_x) continue;
          pixels[static_cast<std::size_t>(y) * nx + static_cast<std::size_t>(x)] =
              s.value[static_cast<std::size_t>(r * s.nx + c)];
        }
      }
      image.push_back(std::move(pixels));
    }
  }
  /// A^T diag(w) A
  [[nodiscard]] test::Dense normal(const std::vector<double>& w) const {
    test::Dense m(unknowns);
    for (std::size_t a = 0; a < unknowns; ++a) {
      std::vector<double> weighted(image[a]);
      std::vector<std::size_t> lit;
      for (std::size_t p = 0; p < w.size(); ++p) {
        weighted[p] *= w[p];
        if (weighted[p] != 0) lit.push_back(p);
      }
      for (std::size_t b = a; b < unknowns; ++b) {
        for (const std::size_t p : lit) m(a, b) += weighted[p] * image[b][p];
        m(b, a) = m(a, b);
      }
    }
    return m;
  }
  /// A^T map
  [[nodiscard]] std::vector<double> transposed(const std::vector<double>& map) const {
    std::vector<double> out(unknowns, 0.0);
    for (std::size_t u = 0; u < unknowns; ++u) {
      for (std::size_t p = 0; p < map.size(); ++p) out[u] += image[u][p] * map[p];
    }
    return out;
  }
  /// A x
  [[nodiscard]] std::vector<double> projected(const std::vector<double>& x) const {
    std::vector<double> out(nx * ny, 0.0);
    for (std::size_t u = 0; u < unknowns; ++u) {
      for (std::size_t p = 0; p < out.size(); ++p) out[p] += x[u] * image[u][p];
    }
    return out;
  }
};

inline std::vector<double> pixels_of(const PixelArray& a) {
  std::vector<double> out;
  for (std::size_t r = 0; r < a.rows(); ++r) {
    for (std::size_t c = 0; c < a.cols(); ++c) out.push_back(a.at(r, c));
  }
  return out;
}

inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = a.size() == b.size() ? 0.0 : HUGE_VAL;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    worst = std::abs(a[i] - b[i]) <= worst ? worst : std::abs(a[i] - b[i]);  // sees a NaN
  return worst;
}

}  // namespace fiberloom::exact
