// SPDX-License-Identifier: BSD-3-Clause
// How arrays lie on a device, the cut into windows, and the problem of a frame against the geometry
// that it is made of.
#include "fiberloom/extract/exact/gpu/layout.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "fiberloom/extract/exact/gpu/kernels.hpp"
#include "fiberloom/extract/exact/gpu/problem.hpp"
#include "fiberloom/extract/exact/normal_equations.hpp"
#include "fiberloom/extract/test_psf.hpp"

namespace fiberloom::exact::gpu {
namespace {

TEST(Packs, HoldEveryElementOnceWithNeighbouringLanesSideBySide) {
  constexpr long kLanesOf = 70, kRows = 5;
  constexpr int kWidth = 3;
  const long size = Packs::size(kLanesOf, kRows, kWidth);
  EXPECT_EQ(size, 96 * kRows * kWidth);
  std::vector<double> memory(static_cast<std::size_t>(size));
  const Packs p{memory.data(), kRows, kWidth};
  std::set<double*> seen;
  for (long lane = 0; lane < padded(kLanesOf); ++lane) {
    for (long row = 0; row < kRows; ++row) {
      for (int k = 0; k < kWidth; ++k) seen.insert(p.at(lane, row, k));
    }
  }
  EXPECT_EQ(seen.size(), memory.size());
  EXPECT_EQ(*seen.begin(), memory.data());
  EXPECT_EQ(*seen.rbegin(), memory.data() + size - 1);
  EXPECT_EQ(p.at(33, 2, 1) - p.at(32, 2, 1), 1);
  EXPECT_EQ(p.at(5, 2, 2) - p.at(5, 2, 1), kWarp);
}

TEST(ShortWindows, CoverEveryBinOnceWithCoresAsLongAsAskedFor) {
  for (int nbin = 1; nbin < 2500; nbin += 7) {
    for (const int core : {32, 96}) {
      const Cut cut = short_windows(nbin, core, 40);
      int next = 0;
      for (int w = 0; w < cut.count; ++w) {
        EXPECT_EQ(cut.first(w) + cut.skirt, next);
        EXPECT_LT(next, nbin) << "no window without a core";
        next += cut.stride;
      }
      EXPECT_GE(next, nbin);
      EXPECT_EQ(cut.rows, cut.stride + 2 * cut.skirt);
      if (cut.count == 1) {
        EXPECT_EQ(cut.skirt, 0);
      } else {
        EXPECT_GE(cut.stride, core);
        EXPECT_LT(cut.stride, 2 * core);
      }
    }
  }
}

struct Made {
  PsfModel psf;
  ExtractOptions options;
  SerialExecutor serial;
  GeometryStore store;
  explicit Made(double pitch = 8) {
    test::SmallPsf o;
    o.nfiber = 5;
    o.pitch = pitch;
    psf = test::make_psf(o);
    options.wave = test::make_grid(30);
    options.bundle_size = 2;
  }
  Problem problem() { return make_problem(psf, options, {}, active_isa(), store, serial, {}); }
};

TEST(MakeProblem, PutsFibresThatAreIteratedBeforeThoseBetweenThemInWholePacks) {
  for (const double pitch : {8.0, 6.0}) {  // with next neighbours, with second ones
    Made m(pitch);
    m.options.bundle_size = 5;
    const Problem p = m.problem();
    ASSERT_EQ(p.nbundle(), 1) << pitch;
    const bool some = p.reach == 1;
    ASSERT_EQ(some, pitch == 8.0);
    ASSERT_EQ(p.solve_fiber.size(), some ? 64U : 32U);
    EXPECT_EQ(p.iterated_slots, 32);
    EXPECT_EQ(p.solve_step, (std::vector<int>{some ? 2 : 1}));
    const std::vector<int> first =
        some ? std::vector<int>{0, 2, 4, -1, -1, -1} : std::vector<int>{0, 1, 2, 3, 4, -1};
    EXPECT_TRUE(std::equal(first.begin(), first.end(), p.solve_fiber.begin()));
    if (some) {
      const std::vector<int> between{1, 3, -1};
      EXPECT_TRUE(std::equal(between.begin(), between.end(), p.solve_fiber.begin() + 32));
    }
  }
}

TEST(MakeProblem, PacksTheTracesOfAllBundlesThatAreAskedFor) {
  Made m;
  m.options.spec_min = 2;
  const Problem p = m.problem();
  ASSERT_EQ(p.nbundle(), 2);
  EXPECT_TRUE(p.left.empty());
  EXPECT_EQ(p.psf_fiber, (std::vector<int>{2, 3, 4}));
  EXPECT_EQ(p.bundle_of, (std::vector<int>{0, 0, 1}));
  EXPECT_EQ(p.bundle_first, (std::vector<int>{0, 2, 3}));
  EXPECT_EQ(p.fibers_of(1), 1);
  EXPECT_EQ(p.nbin, 30 + 2 * p.grid.guard);
  for (int f = 0; f < 3; ++f) {
    const FiberTrace t = trace_fiber(p.plan, 2 + f);
    const auto fiber = static_cast<std::size_t>(f);
    for (int j = 0; j < p.nbin; ++j) {
      const auto bin = static_cast<std::size_t>(j),
                 at = fiber * static_cast<std::size_t>(p.bin_pitch()) + bin;
      ASSERT_EQ(p.live[at], t.live[bin]);
      if (!t.live[bin]) continue;
      ASSERT_EQ(p.trace_x0[at], t.x0[bin]);
      ASSERT_EQ(p.trace_y0[at], t.y0[bin]);
      ASSERT_GE(t.y0[bin], p.row_first);
      ASSERT_LE(t.y0[bin] + p.plan.ny, p.row_first + p.rows);
      ASSERT_GE(t.x0[bin], p.strip_x[static_cast<std::size_t>(p.bundle_of[fiber])]);
    }
    EXPECT_EQ(p.direction[fiber], 1);
    EXPECT_TRUE(t.live[static_cast<std::size_t>(p.live_first[fiber])]);
    EXPECT_LE(p.live_last[fiber], (*p.camera)[p.device_bundle[0]].lit.last);
  }
}

TEST(GeometryStore, KeepsACameraForItsNextFramesAndMakesAnyOtherAnew) {
  Made m;
  const Problem first = m.problem();
  m.options.want_model = !m.options.want_model;  // nothing of the geometry
  EXPECT_EQ(m.problem().camera, first.camera);
  Made other;
  other.psf.x.coef(3, 1) += 1e-9;
  const Problem fresh = other.problem();
  std::swap(m.psf, other.psf);
  const Problem moved = m.problem();
  EXPECT_NE(moved.camera, first.camera);
  EXPECT_EQ(moved.trace_x0, fresh.trace_x0);
  m.options.bundle_size = 3;
  EXPECT_NE(m.problem().camera, moved.camera);
  m.options.bundle_size = 2;
  m.options.wave.pop_back();
  EXPECT_NE(m.problem().camera, moved.camera);
  EXPECT_EQ(m.store.count(), 4U);
  std::swap(m.psf, other.psf);
  for (std::size_t i = 0; i < GeometryStore::kMost; ++i) {
    m.psf.y.coef(0, 0) += 1e-9;
    static_cast<void>(m.problem());
  }
  EXPECT_EQ(m.store.count(), GeometryStore::kMost);
}

TEST(MakeProblem, LeavesWhatTheDeviceHasNoKernelsForToTheCpuAndSaysWhy) {
  Made close(4.0);
  close.options.bundle_size = 3;
  const Problem p = close.problem();
  ASSERT_EQ(p.left.size(), 1U);
  EXPECT_EQ(p.left[0].bundle, 0U);
  EXPECT_EQ(p.left[0].reason, "second neighbours matter");
  EXPECT_EQ(p.device_bundle, (std::vector<std::size_t>{1}));
  EXPECT_EQ(p.psf_fiber, (std::vector<int>{3, 4}));
  Made fine;  // spots of bins that are more than 16 apart share rows
  fine.options.wave = test::make_grid(30, 0.3);
  EXPECT_EQ(fine.problem().nbundle(), 1) << "one fibre couples with none";
  ASSERT_EQ(fine.problem().left.size(), 2U);
  EXPECT_EQ(fine.problem().left[0].reason, "spots of bins far apart share rows");
}

}  // namespace
}  // namespace fiberloom::exact::gpu
