// SPDX-License-Identifier: BSD-3-Clause
// The estimate against what a bundle's workspace really holds; that whole programs stay within it
// is tested in tests/fiberloom/cli/test_memory.py.
#include "fiberloom/recipes/engine_memory.hpp"

#include <gtest/gtest.h>

#include "fiberloom/extract/exact/engine.hpp"
#include "fiberloom/extract/test_psf.hpp"
#include "fiberloom/recipes/frame_memory.hpp"

namespace fiberloom {
namespace {

PsfModel long_psf(int nfiber) {
  test::SmallPsf o;
  o.nfiber = nfiber;
  o.npix_y = 180;
  return test::make_psf(o);
}

TEST(EngineMemory, IsSharedOnceAndATaskForEachThreadThatHasOne) {
  const EngineMemory m{1000, 10, 3, 0};
  EXPECT_EQ(m.with(0), 1010U);
  EXPECT_EQ(m.with(1), 1010U);
  EXPECT_EQ(m.with(3), 1030U);
  EXPECT_EQ(m.with(64), 1030U);
}

TEST(EngineMemory, IsTheCpusWhereADeviceHasNoCode) {
  const PsfModel psf = long_psf(8);
  const auto needs = [&](auto set) {
    ExtractJob job;
    set(job);
    return engine_memory(job, psf, {5000, 5070, 1}).needs_cpu;
  };
  EXPECT_FALSE(needs([](ExtractJob&) {}));
  EXPECT_TRUE(needs([](ExtractJob& j) { j.options.model_variance = true; }));
  EXPECT_TRUE(needs([](ExtractJob& j) { j.options.decorrelate_fibers = true; }));
  EXPECT_TRUE(needs([](ExtractJob& j) { j.options.fiber_correlation = true; }));
  EXPECT_TRUE(needs([](ExtractJob& j) { j.barycentric_fibers = true; }));
  EXPECT_TRUE(needs([](ExtractJob& j) {
    j.wave_file = "grids.fits";
    j.options.oversample = 2;
  }));
}

TEST(ExactMemory, OfATaskIsAboutWhatAWorkspaceHolds) {
  const PsfModel psf = long_psf(8);
  const CcdFrame ccd = test::make_frame(psf, 1000003);
  ExtractOptions o;
  o.wave = test::make_grid(70);
  const exact::GuardedGrid grid = exact::guard_grid(psf, o.wave);
  const SpotPlan plan = make_spot_plan(psf, grid.wave);
  exact::Tuning tuning;  // what takes most, where no part of the axis does
  tuning.wide_bands = exact::WideBands::kEverywhere;
  const exact::FrameContext frame{ccd, o, grid, plan, tuning, active_isa()};
  exact::BundleWorkspace w;
  ExtractResult result = exact::empty_result(psf, o);
  (void)exact::extract_bundle(frame, {0, 8}, w, result, nullptr);
  std::size_t held = 0;
  const auto add = [&](const auto&... buffers) {
    ((held += buffers.size() * sizeof(buffers[0])), ...);
  };
  add(w.strip.weight, w.strip.pixel, w.spots);
  add(w.normal.own_, w.normal.cross_, w.normal.rhs_, w.normal.phi_);
  const exact::SolveWork& s = w.solve;
  add(s.matrix, s.own.l, s.own.inv_d, s.own_between.l, s.own_between.inv_d, s.packed);
  add(s.x, s.r, s.z, s.p, s.q, s.own_p);
  const exact::MarginalWork& m = w.marginal;
  add(m.precision, m.schur, m.l, m.inv_d, m.inverse, m.columns, m.scratch, m.left);
  const exact::RootBuffers& r = w.root;
  add(r.l, r.inv_d, r.v1, r.vx, r.ones, r.x, r.weight, r.q, r.q1, r.qx, r.narrow, r.shifted);
  add(w.diagnostics.model, w.diagnostics.chi2pix, w.diagnostics.spots);
  const EngineMemory estimate = exact_memory(psf, o, grid_size(o.wave));
  // of a bundle as small as this one spots in work count, which the estimate leaves out
  EXPECT_GT(static_cast<double>(estimate.task), 0.8 * static_cast<double>(held));
  EXPECT_LT(static_cast<double>(estimate.task), 1.3 * static_cast<double>(held));
  EXPECT_EQ(estimate.bins, 8U * 70);
  EXPECT_EQ(estimate.tasks, 1U);
}

TEST(ExactMemory, GrowsWithWhatIsAskedForAndNeedsNoGrid) {
  const PsfModel psf = long_psf(8);
  ExtractOptions o;
  o.bundle_size = 2;
  const GridSize grid = grid_size(test::make_grid(60));
  const EngineMemory all = exact_memory(psf, o, grid);
  EXPECT_EQ(all.tasks, 4U);
  o.nspec = 3;
  const EngineMemory some = exact_memory(psf, o, grid);
  EXPECT_EQ(some.tasks, 2U);
  EXPECT_EQ(some.bins, 180U);
  // a bin's five doubles, mask and 11 floats; the packed PSF is the same
  EXPECT_EQ(all.shared - some.shared, (480U - 180) * (5 * 8 + 4 + 11 * 4));
  EXPECT_LT(some.shared, all.shared);
  EXPECT_EQ(some.task, all.task) << "a bundle is solved whole";
  o.ndiag = 101;
  EXPECT_GT(exact_memory(psf, o, grid).task, some.task);
  EXPECT_GT(exact_memory(psf, o, grid).shared, some.shared);
  o.want_model = true;
  EXPECT_GE(exact_memory(psf, o, grid).shared,
            some.shared + 4U * 180 * static_cast<unsigned>(psf.npix_x));
  o = {};
  const std::uint64_t one_bundle = exact_memory(psf, o, grid).task;
  EXPECT_GT(one_bundle, all.task + all.task / 3) << "of 8 fibres instead of 2";
  EXPECT_GT(exact_memory(psf, o, grid_size(test::make_grid(120, 0.4))).task, one_bundle);
}

TEST(PatchMemory, GrowsWithTheSquareOfAPatchAndCountsPatches) {
  const PsfModel psf = long_psf(8);
  ExtractOptions o;
  o.patch.nwavestep = 20;
  o.patch.nsubbundles = 2;
  const GridSize grid = grid_size(test::make_grid(60));
  const EngineMemory m = patch_memory(psf, o, grid);
  EXPECT_EQ(m.tasks, 6U);  // two halves, three steps each
  const double unknowns = 6 * (20 + 2 * 12);
  EXPECT_GT(static_cast<double>(m.task), 8 * 4 * unknowns * unknowns);
  o.patch.nwavestep = 40;
  EXPECT_GT(patch_memory(psf, o, grid).task, m.task);
  o.patch.nsubbundles = 1;
  EXPECT_GT(patch_memory(psf, o, grid).task, 2 * m.task);
}

}  // namespace
}  // namespace fiberloom
