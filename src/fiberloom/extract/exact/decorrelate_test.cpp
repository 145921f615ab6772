// SPDX-License-Identifier: BSD-3-Clause
// The root of banded matrices against the dense root. What becomes of matrices that have none is
// tested in tests/fiberloom/property/containment_test.cpp.
#include "fiberloom/extract/exact/decorrelate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fiberloom/extract/exact/test_bundle.hpp"

namespace fiberloom::exact {
namespace {

/// A matrix of half-bandwidth `band` whose entries fall by `decay` a diagonal, cut into windows.
struct Problem {
  Windows windows;
  RootTask task;
  test::Dense s;
  std::vector<double> x, lanes;
  WorkArena arena;
  RootBuffers buffers{arena};

  Problem(int nbin, int skirt, int band, double decay)
      : windows(cut_windows(nbin, skirt)), s(static_cast<std::size_t>(nbin)) {
    task.band = band;
    task.decay = 0.5;
    for (std::size_t r = 0; r < s.n; ++r) {
      x.push_back(30 * std::sin(0.3 * static_cast<double>(r)));
      s(r, r) = 2.0 + 0.5 * std::sin(static_cast<double>(r));
      for (std::size_t d = 1; d <= static_cast<std::size_t>(band) && r + d < s.n; ++d)
        s(r, r + d) = s(r + d, r) =
            0.9 * std::pow(decay, static_cast<double>(d)) * std::cos(static_cast<double>(r * d));
    }
  }
  RootReport root() {
    lanes.assign(static_cast<std::size_t>(windows.rows * (task.band + 1) * kLanes), 0.0);
    for (int row = 0; row < windows.rows; ++row) {
      for (int i = 0; i < kLanes; ++i) {
        const int j = windows.bin(i, row);
        for (int d = 0; d <= task.band; ++d) {
          const bool inside = windows.inside(i, row) && j + d < windows.nbin;
          lanes[static_cast<std::size_t>((row * (task.band + 1) + d) * kLanes + i)] =
              inside ? s(static_cast<std::size_t>(j), static_cast<std::size_t>(j + d))
                     : (d == 0 ? 2.0 : 0.0);
        }
      }
    }
    return square_root(windows, task, lanes.data(), x.data(), banded_kernels(active_isa()),
                       buffers);
  }
  /// Largest differences from the dense root: of Q, of Q 1 and Q x (which is in sigma).
  struct Difference {
    double q = 0, q1 = 0, qx = 0;
  };
  [[nodiscard]] Difference from_dense() {
    const test::Dense want = test::root(s);
    const std::vector<double> want1 = test::times(want, std::vector<double>(s.n, 1.0)),
                              wantx = test::times(want, x);
    Difference d;
    for (int j = 0; j < windows.nbin; ++j) {
      const int lane = windows.window_of(j), row = j - windows.bin(lane, 0);
      const auto at = static_cast<std::size_t>(row * kLanes + lane),
                 bin = static_cast<std::size_t>(j);
      d.q1 = std::max(d.q1, std::abs(buffers.q1[at] - want1[bin]));
      d.qx = std::max(d.qx, std::abs(buffers.qx[at] - wantx[bin]));
      for (int e = 0; e <= task.nd && j + e < windows.nbin; ++e) {
        const auto entry = static_cast<std::size_t>((row * (task.nd + 1) + e) * kLanes + lane);
        d.q = std::max(d.q,
                       std::abs(buffers.q[entry] - want(bin, bin + static_cast<std::size_t>(e))));
      }
    }
    return d;
  }
};

TEST(SquareRoot, IsTheDenseRootWithinTheErrorThatItReports) {
  for (const double tolerance : {1e-3, 1e-6, 1e-10}) {
    Problem p(40, 40, 8, 0.5);
    p.task.root_tolerance = tolerance;
    p.task.widest = true;
    const RootReport report = p.root();
    ASSERT_GT(report.poles, 0);
    EXPECT_EQ(report.band, 8);
    EXPECT_FALSE(report.lost);
    EXPECT_LE(report.root_error(), tolerance);
    const Problem::Difference d = p.from_dense();
    // a bin may have some of its brighter neighbours' error
    EXPECT_LE(d.qx, 2 * report.root_error() + 1e-12) << tolerance;
    EXPECT_LE(d.q1, report.root_error() + 1e-12) << tolerance;
    EXPECT_LE(d.q, report.root_error() + 1e-12) << tolerance;
  }
}

TEST(SquareRoot, BoundsTheSpectrumFromBothSides) {
  Problem p(40, 40, 8, 0.5);
  const RootReport report = p.root();
  // power iteration with S and with its inverse
  const auto extreme = [](const test::Dense& m) {
    std::vector<double> v(m.n, 1.0);
    double norm = 0;
    for (int step = 0; step < 300; ++step) {
      v = test::times(m, v);
      norm = 0;
      for (const double e : v) norm += e * e;
      norm = std::sqrt(norm);
      for (double& e : v) e /= norm;
    }
    return norm;
  };
  const double high = extreme(p.s), low = 1 / extreme(test::inverse(p.s));
  EXPECT_GE(report.high, high);
  EXPECT_LE(report.high, 2 * high) << "a bound should be of use";
  EXPECT_LE(report.low, low);
  EXPECT_GE(report.low, 0.1 * low);
}

TEST(SquareRoot, ReportsTheLargestSignal) {
  Problem p(40, 40, 8, 0.5);
  double signal = 0;
  for (std::size_t j = 0; j < p.s.n; ++j)
    signal = std::max(signal, std::sqrt(p.s(j, j)) * std::abs(p.x[j]));
  EXPECT_NEAR(p.root().signal, signal, 1e-12 * signal);
}

TEST(SquareRoot, OfWindowsIsThatOfTheWholeWithinWhatASkirtLeaves) {
  Problem p(130, 30, 8, 0.4);
  ASSERT_EQ(p.windows.count, 2);
  p.task.widest = true;
  ASSERT_GT(p.root().poles, 0);
  const Problem::Difference d = p.from_dense();
  EXPECT_LT(d.q, 1e-7);
  EXPECT_LT(d.q1, 1e-7);
  EXPECT_LT(d.qx, 1e-6);
}

/// A narrow matrix with a tail on its diagonals 9 to 12.
struct WithTail : Problem {
  explicit WithTail(double height) : Problem(40, 40, 8, 0.3) {
    task.band = 12;
    for (std::size_t r = 0; r < s.n; ++r) {
      for (std::size_t d = 9; d <= 12 && r + d < s.n; ++d) s(r, r + d) = s(r + d, r) = height;
    }
  }
};

TEST(SquareRoot, TakesTheNarrowestBandThatLosesNothingThatMatters) {
  WithTail p(1e-9);
  const RootReport report = p.root();
  EXPECT_EQ(report.band, 8);
  EXPECT_GT(report.truncation, 0);
  EXPECT_LE(report.truncation, p.task.tolerance);
  const Problem::Difference d = p.from_dense();  // of the matrix with its tail
  EXPECT_LE(d.qx, report.truncation + report.root_error());
  EXPECT_GT(d.qx, 1e-12) << "there is something that it lost";
}

TEST(SquareRoot, KeepsABandThatMatters) {
  WithTail p(1e-4);
  p.task.widest = true;
  EXPECT_EQ(p.root().band, 12);
  EXPECT_LT(p.from_dense().qx, 1e-6);
}

TEST(SquareRoot, GivesUpAndSaysByHowMuchWhereAWiderBandMayBeHad) {
  WithTail p(1e-4);
  const RootReport report = p.root();
  EXPECT_EQ(report.poles, 0);
  EXPECT_FALSE(report.lost);
  EXPECT_GT(report.truncation, p.task.tolerance);
  EXPECT_LT(report.truncation, 1.0);
}

/// Whose couplings reach far about the middle alone.
struct WithWideMiddle : Problem {
  WithWideMiddle() : Problem(200, 30, 8, 0.15) {
    task.root_tolerance = 1e-9;
    for (std::size_t r = 90; r < 94; ++r) s(r, r + 8) = s(r + 8, r) = 0.05;
  }
  /// From the dense root, at bins at least `away` from the range.
  [[nodiscard]] double difference_beyond(BinRange range, int away) const {
    const std::vector<double> want = test::times(test::root(s), x);
    double worst = 0;
    for (int j = 0; j < windows.nbin; ++j) {
      if (j >= range.first - away && j < range.last + away) continue;
      const int lane = windows.window_of(j), row = j - windows.bin(lane, 0);
      worst = std::max(worst, std::abs(buffers.qx[static_cast<std::size_t>(row * kLanes + lane)] -
                                       want[static_cast<std::size_t>(j)]));
    }
    return worst;
  }
};

TEST(SquareRoot, LeavesOutTheBinsThatAskForAWiderBandWhereItMay) {
  WithWideMiddle p;
  EXPECT_EQ(p.root().poles, 0);
  p.task.may_leave = true;
  const RootReport report = p.root();
  ASSERT_GT(report.poles, 0);
  ASSERT_EQ(report.left.size(), 1U);
  EXPECT_EQ(report.left[0].first, 90 - 8);
  EXPECT_EQ(report.left[0].last, 93 + 8 + 1 + 8);
  EXPECT_GT(report.left_truncation, 100 * p.task.tolerance);
  EXPECT_LE(report.truncation, 1.1 * p.task.tolerance) << "of those that remain";
  EXPECT_LT(p.difference_beyond(report.left[0], 16), 1e-6);
  EXPECT_GT(p.difference_beyond(report.left[0], 0), 1e-4) << "those beside them want a second look";
}

TEST(SquareRoot, LeavesNothingOutWhereTheBandWillDo) {
  Problem p(130, 30, 8, 0.15);
  const RootReport without = p.root();
  const std::vector<double> qx(p.buffers.qx.data(), p.buffers.qx.data() + p.buffers.qx.size());
  p.task.may_leave = true;
  const RootReport report = p.root();
  EXPECT_TRUE(report.left.empty());
  EXPECT_EQ(report.poles, without.poles);
  EXPECT_TRUE(std::equal(qx.begin(), qx.end(), p.buffers.qx.data()));
}

TEST(SquareRoot, HearsAStop) {
  Problem p(40, 40, 8, 0.5);
  Observer observer;
  observer.stop_requested = [] { return true; };
  p.task.observer = &observer;
  EXPECT_THROW((void)p.root(), Error);
}

}  // namespace
}  // namespace fiberloom::exact
