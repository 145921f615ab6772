// SPDX-License-Identifier: BSD-3-Clause
// From windows to rows of the result, with roots made up bin by bin: what is written follows from
// the formulas, whatever window a bin lies in.
#include "fiberloom/extract/exact/scatter.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fiberloom/extract/exact/engine.hpp"
#include "fiberloom/extract/exact/test_bundle.hpp"

namespace fiberloom::exact {
namespace {

constexpr int kGuard = 6, kBins = 60, kFiber = 1, kNd = 3;

double q_of(int j, int k) { return (1.5 + 0.01 * (j + k)) * std::exp(-0.8 * std::abs(j - k)); }
double q1_of(int j) { return 2.0 + 0.02 * j; }
double qx_of(int j) { return 50 * std::sin(0.2 * j); }
double x_of(int j) { return 30 * std::cos(0.1 * j); }

struct Scatter {
  TestBundle bundle{test::make_psf(), test::make_grid(kBins)};
  ExtractOptions options;
  GuardedGrid grid;
  Tuning tuning;
  Windows windows = cut_windows(kBins, 10);
  ExtractResult result;

  Scatter() {
    options.wave.assign(bundle.wave.begin() + kGuard, bundle.wave.end() - kGuard);
    options.wave.back() += 0.5;  // one bin is wider than the others
    options.ndiag = 2 * kNd + 1;
    grid.wave = bundle.wave;
    grid.guard = kGuard;
    bundle.assemble_equations();
    BundleWorkspace& w = bundle.work;
    const auto lanes = static_cast<std::size_t>(windows.rows) * kLanes;
    w.root.q.resize(lanes * (kNd + 1), NAN);  // what no bin's own window holds must not be read
    w.root.q1.resize(lanes, NAN);
    w.root.qx.resize(lanes, NAN);
    w.root.drowned.resize(lanes, 0);
    w.solve.x.resize(w.normal.rhs_.size(), NAN);
    for (int j = 0; j < kBins; ++j) {
      const int lane = windows.window_of(j);
      put(j, lane);
      w.solve.x[static_cast<std::size_t>(kFiber * w.normal.pitch + w.normal.margin + j)] = x_of(j);
      for (int f = 0; f < 3; ++f) w.normal.phi(f)[j] = 1.0;
    }
    result = empty_result(bundle.psf, options);
    for (std::size_t i = 0; i < result.resolution.size(); ++i) result.resolution.data()[i] = -9;
  }
  std::size_t at(int j, int lane) const {
    return static_cast<std::size_t>((j - windows.bin(lane, 0)) * kLanes + lane);
  }
  void put(int j, int lane) {
    RootBuffers& root = bundle.work.root;
    root.q1[at(j, lane)] = q1_of(j);
    root.qx[at(j, lane)] = qx_of(j);
    const int row = j - windows.bin(lane, 0);
    for (int d = 0; d <= kNd; ++d)
      root.q[static_cast<std::size_t>((row * (kNd + 1) + d) * kLanes + lane)] = q_of(j, j + d);
  }
  std::size_t run() {
    const FrameContext frame{bundle.ccd, options, grid, bundle.plan, tuning, bundle.isa};
    return scatter_fiber(frame, windows, bundle.work, kFiber, 0, result);
  }
};

/// The result follows from the formulas, with bins `lost` (of the grid) without information.
void expect_formulas(const Scatter& s, const std::vector<int>& lost) {
  const std::vector<double> width = bin_widths(s.options.wave);
  const int n = static_cast<int>(width.size());
  const auto good = [&](int j) { return std::find(lost.begin(), lost.end(), j) == lost.end(); };
  for (int j = 0; j < n; ++j) {
    const auto bin = static_cast<std::size_t>(j);
    const int g = j + kGuard;
    const double w = width[bin], keep = good(j) ? 1 : 0;
    EXPECT_DOUBLE_EQ(s.result.flux(0, bin), keep * qx_of(g) / q1_of(g) / w) << j;
    EXPECT_DOUBLE_EQ(s.result.ivar(0, bin), keep * std::pow(q1_of(g) * w, 2)) << j;
    EXPECT_DOUBLE_EQ(s.result.xflux(0, bin), keep * x_of(g) / w) << j;
    for (int k = 0; k < s.options.ndiag; ++k) {
      const int row = j - kNd + k;
      double want = 0;
      if (row >= 0 && row < n)
        want = good(row) ? q_of(std::min(row, j) + kGuard, std::max(row, j) + kGuard) /
                               q1_of(row + kGuard)
                         : (row == j);
      EXPECT_FLOAT_EQ(s.result.resolution(0, static_cast<std::size_t>(k), bin),
                      static_cast<float>(want))
          << j << " " << k;
    }
  }
}

TEST(ScatterFiber, WritesFluxIvarAndResolutionByTheFormulas) {
  Scatter s;
  ASSERT_EQ(s.windows.count, 3);
  EXPECT_EQ(s.run(), 0U);
  expect_formulas(s, {});
}

TEST(ScatterFiber, BlanksBinsWithoutLightOfNoRootDrownedOrNotStorable) {
  Scatter s;
  RootBuffers& root = s.bundle.work.root;
  const auto place = [&](int j) { return s.at(j + kGuard, s.windows.window_of(j + kGuard)); };
  s.bundle.work.normal.phi(kFiber)[4 + kGuard] = 0.009;
  root.q1[place(15)] = 0.0;
  root.drowned[place(30)] = 1;
  root.qx[place(31)] = 1e39;
  s.bundle.work.normal.phi(0)[20 + kGuard] = 0.0;  // another fibre's
  EXPECT_EQ(s.run(), 4U);
  expect_formulas(s, {4, 15, 30, 31});
}

TEST(FiberRoot, GivesTheRowThatItsWindowsWouldGive) {
  Scatter s;
  s.bundle.work.root.drowned[s.at(30 + kGuard, s.windows.window_of(30 + kGuard))] = 1;
  FiberRoot root(kNd);
  EXPECT_TRUE(root.empty());
  root.take(s.windows, s.bundle.work.root, {0, kBins});
  EXPECT_FALSE(root.empty());
  const FrameContext frame{s.bundle.ccd, s.options, s.grid, s.bundle.plan, s.tuning, s.bundle.isa};
  EXPECT_EQ(scatter_fiber(frame, root, s.bundle.work, kFiber, 0, s.result), 1U);
  expect_formulas(s, {30});
}

TEST(FiberRoot, TakesAPartFromOtherWindowsAndSeesHowTheyDiffer) {
  Scatter s;
  FiberRoot root(kNd);
  root.take(s.windows, s.bundle.work.root, {0, kBins});
  const BinRange part{20, 41};
  s.windows = cut_part(kBins, part, 10);
  RootBuffers& b = s.bundle.work.root;
  const auto lanes = static_cast<std::size_t>(s.windows.rows) * kLanes;
  b.q.resize(lanes * (kNd + 1), NAN);
  b.q1.resize(lanes, NAN);
  b.qx.resize(lanes, NAN);
  b.drowned.resize(lanes, 0);
  const Windows& w = s.windows;
  const auto lane_of = [&](int j) {
    return w.window_of(std::clamp(j, w.core().first, w.core().last - 1));
  };
  for (int j = part.first - 1; j <= part.last; ++j) s.put(j, lane_of(j));
  EXPECT_EQ(root.difference(w, b, part.first - 1), 0);
  EXPECT_EQ(root.difference(w, b, part.last), 0);
  b.qx[s.at(part.first - 1, lane_of(part.first - 1))] += 1e-3;
  b.q1[s.at(part.last, lane_of(part.last))] *= 1.01;
  EXPECT_NEAR(root.difference(w, b, part.first - 1), 1e-3, 1e-9);
  EXPECT_NEAR(root.difference(w, b, part.last), 0.01 / 1.01 * (1 + std::abs(qx_of(part.last))),
              1e-9);
  b.q1[s.at(25, lane_of(25))] = 7;
  root.take(w, b, part);
  EXPECT_EQ(root.bin(25).q1, 7);
  EXPECT_EQ(root.bin(part.last).q1, q1_of(part.last)) << "of the first windows";
}

TEST(ScatterDiagnostics, WritesTheFibresThatAreAskedForAndNoRoundingAsLostLight) {
  Scatter s;
  s.options.spec_min = 1;
  s.options.nspec = 1;
  s.result = empty_result(s.bundle.psf, s.options);
  NormalEquations& n = s.bundle.work.normal;
  const auto pitch = static_cast<std::size_t>(s.bundle.geometry.nbin_padded);
  s.bundle.work.diagnostics.chi2pix.resize(3 * pitch, 0.0);
  for (std::size_t i = 0; i < 3 * pitch; ++i)
    s.bundle.work.diagnostics.chi2pix[i] = static_cast<double>(i);
  n.phi(1)[kGuard + 2] = 1 - 1e-14;
  n.phi(1)[kGuard + 3] = 0.75;
  n.phi(1)[kGuard + 4] = 1 + 1e-14;
  const FrameContext frame{s.bundle.ccd, s.options, s.grid, s.bundle.plan, s.tuning, s.bundle.isa};
  scatter_diagnostics(frame, s.bundle.geometry, s.bundle.work, s.result);
  EXPECT_EQ(s.result.chi2pix(0, 5), static_cast<double>(pitch + kGuard + 5));
  EXPECT_EQ(s.result.pixmask_fraction(0, 2), 0);
  EXPECT_EQ(s.result.pixmask_fraction(0, 3), 0.25);
  EXPECT_EQ(s.result.pixmask_fraction(0, 4), 0);
}

TEST(SeamDifference, IsThatOfNeighbouringWindowsBesideTheirBorder) {
  Scatter s;
  RootBuffers& root = s.bundle.work.root;
  for (int w = 1; w < s.windows.count; ++w) {
    for (int j = w * s.windows.stride - 1; j <= w * s.windows.stride; ++j) {
      s.put(j, w - 1);
      s.put(j, w);
    }
  }
  EXPECT_EQ(seam_difference(s.windows, kNd, root), 0);
  const int border = 2 * s.windows.stride;
  root.qx[s.at(border, 1)] += 1e-3;
  EXPECT_NEAR(seam_difference(s.windows, kNd, root), 1e-3, 1e-9);
  root.q1[s.at(border - 1, 2)] *= 1.01;  // relative, times the flux that it divides
  EXPECT_NEAR(seam_difference(s.windows, kNd, root),
              0.01 / 1.01 * (1 + std::abs(qx_of(border - 1))), 1e-9);
  EXPECT_EQ(seam_difference(cut_windows(kBins, kBins), kNd, root), 0) << "one window has no seam";
}

}  // namespace
}  // namespace fiberloom::exact
