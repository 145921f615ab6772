// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/extract/traces/trace_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "loom/base/rng.hpp"

namespace fiberloom {
namespace {

/// A plane of windows with errors between 0.01 and 0.03, at places of a counter.
std::vector<TraceWindow> plane(std::uint64_t seed, std::size_t n) {
  const CounterRng rng(seed, 1);
  std::vector<TraceWindow> windows;
  for (std::size_t i = 0; i < n; ++i) {
    const auto place = rng.uniform2(i);
    TraceWindow w;
    w.u = 2 * place[0] - 1;
    w.v = 2 * place[1] - 1;
    w.error = 0.01 + 0.02 * place[0];
    w.value = 0.1 - 0.05 * w.u + 0.02 * w.v + w.error * rng.normal(1000 + i);
    windows.push_back(w);
  }
  return windows;
}

TEST(FitWindows, FindsThePolynomialWithinItsErrors) {
  double sum2 = 0;
  const int draws = 200;
  for (int d = 0; d < draws; ++d) {
    const TraceFit fit = fit_windows(plane(static_cast<std::uint64_t>(d) + 1, 60), 1);
    ASSERT_EQ(fit.degree, 1);
    const double off = fit.value(1, 0.5, -0.5) - (0.1 - 0.025 - 0.01);
    sum2 += off * off / (fit.error(1, 0.5, -0.5) * fit.error(1, 0.5, -0.5));
  }
  EXPECT_NEAR(std::sqrt(sum2 / draws), 1, 0.12);
}

TEST(FitWindows, LeavesOutWhatStandsOut) {
  std::vector<TraceWindow> windows = plane(3, 100);
  for (std::size_t i = 0; i < 10; ++i) windows[7 * i].value += 2;
  windows[50].error = 0;
  windows[51].value = std::numeric_limits<double>::quiet_NaN();

  const TraceFit fit = fit_windows(windows, 1);

  EXPECT_EQ(fit.dropped, 10U);
  EXPECT_EQ(fit.windows, 88U);
  EXPECT_NEAR(fit.value(1, 0, 0), 0.1, 5 * fit.error(1, 0, 0));
}

TEST(FitWindows, TakesTheDegreeThatTheWindowsBear) {
  std::vector<TraceWindow> column = plane(4, 50);
  for (TraceWindow& w : column) {
    w.value += 0.05 * w.u;
    w.u = 0.3;  // one fibre: no gradient over fibres is seen
  }
  const TraceFit fit = fit_windows(column, 2);
  EXPECT_EQ(fit.degree, 0);
  EXPECT_EQ(fit.coef.size(), 6U) << "terms of the degree asked for";
  EXPECT_GT(fit.chi2, 0);
  EXPECT_FALSE(fit_windows({}, 2).measured());
  EXPECT_FALSE(fit_windows({column[0]}, 0).measured()) << "no scatter";
}

}  // namespace
}  // namespace fiberloom
