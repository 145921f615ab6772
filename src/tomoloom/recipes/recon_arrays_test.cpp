// SPDX-License-Identifier: BSD-3-Clause
// Slices of arrays are those of files, in either order of axes, with an axis for each row.
#include "tomoloom/recipes/recon_arrays.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <tuple>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/runtime/executors.hpp"
#include "loom/testing/test_files.hpp"
#include "tomoloom/status.hpp"

namespace tomoloom {
namespace {

constexpr std::size_t kTurns = 30, kLines = 35, kWide = 24;

std::vector<double> theta() {
  std::vector<double> out;
  for (std::size_t a = 0; a < kTurns; ++a) {
    out.push_back(std::numbers::pi * static_cast<double>(a) / kTurns);
  }
  return out;
}

/// A disc in each row, larger ones further down; `centre` is its axis.
std::vector<float> projections(double centre) {
  std::vector<float> out;
  for (std::size_t a = 0; a < kTurns; ++a) {
    for (std::size_t r = 0; r < kLines; ++r) {
      for (std::size_t x = 0; x < kWide; ++x) {
        const double t = static_cast<double>(x) - centre, radius = 4 + static_cast<double>(r) / 10;
        out.push_back(static_cast<float>(2 * std::sqrt(std::max(0.0, radius * radius - t * t))));
      }
    }
  }
  return out;
}

StackView by_projections(const std::vector<float>& data) {
  return {
      .data = data.data(), .slices = kLines, .angle_stride = kLines * kWide, .slice_stride = kWide};
}

std::vector<float> slices_of(const ReconJob& how, const StackView& stack,
                             const std::vector<double>& centres, std::size_t threads = 1,
                             Backend made_on = Backend::kCpu) {
  std::vector<float> out(kLines * kWide * kWide);
  const auto executor = make_executor(threads);
  EXPECT_EQ(reconstruct_arrays(how, stack, kWide, theta(), centres, out, *executor, {}), made_on);
  return out;
}

TEST(ReconArrays, SinogramsGiveTheBytesOfProjectionsOnAnyNumberOfThreads) {
  const std::vector<float> data = projections(11.5);
  std::vector<float> turned(data.size());
  for (std::size_t a = 0; a < kTurns; ++a) {
    for (std::size_t r = 0; r < kLines; ++r) {
      std::copy_n(&data[(a * kLines + r) * kWide], kWide, &turned[(r * kTurns + a) * kWide]);
    }
  }
  for (const Method method : {Method::kExact, Method::kGridrec, Method::kSirt}) {
    ReconJob how;
    how.method = method;
    how.iterations = 3;
    const auto want = slices_of(how, by_projections(data), {11.5});
    EXPECT_EQ(slices_of(how,
                        {.data = turned.data(),
                         .slices = kLines,
                         .angle_stride = kWide,
                         .slice_stride = kTurns * kWide},
                        {11.5}, 3),
              want);
  }
  EXPECT_NEAR(slices_of({}, by_projections(data), {11.5})[12 * kWide + 12], 1, 0.03);
}

TEST(ReconArrays, EachRowMayHaveAnAxisOfItsOwn) {
  const std::vector<float> data = projections(11.5), moved = projections(13);
  std::vector<float> mixed = data;
  for (std::size_t a = 0; a < kTurns; ++a) {
    std::copy_n(&moved[(a * kLines + 34) * kWide], kWide, &mixed[(a * kLines + 34) * kWide]);
  }
  std::vector<double> centres(kLines, 11.5);
  centres[34] = 13;
  const auto got = slices_of({}, by_projections(mixed), centres);
  const auto first = slices_of({}, by_projections(data), {11.5});
  const auto last = slices_of({}, by_projections(moved), {13});
  constexpr std::size_t kSlice = kWide * kWide;
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], i < 34 * kSlice ? first[i] : last[i], 2e-5) << i;
  }
}

TEST(ReconArrays, ATiltedAxisHasTheRowsBesideEachGroup) {
  const std::vector<float> data = projections(11.5);
  constexpr std::size_t kSlice = kWide * kWide;
  for (const Method method : {Method::kExact, Method::kCgls}) {
    ReconJob how;
    how.method = method;
    how.iterations = 3;
    how.tilt_deg = 7;
    const auto all = slices_of(how, by_projections(data), {11.5});
    const SlicePlan plan = plan_slices(how, {.columns = kWide, .theta = theta(), .centre = 11.5});
    ASSERT_GT(plan.beside(), 0U);
    std::vector<float> last((kLines - 32) * kSlice);
    StackView rows = by_projections(data);  // those behind the first group
    rows.data += 32 * rows.slice_stride;
    rows.slices = kLines - 32;
    rows.before = plan.beside();
    SerialExecutor serial;
    SliceEngine(plan).reconstruct(
        rows, {.data = last.data(), .slice_stride = kSlice, .row_stride = kWide}, serial, {});
    EXPECT_EQ(last, std::vector<float>(all.begin() + 32 * kSlice, all.end()));
    EXPECT_EQ(slices_of(how, by_projections(data), {11.5}, 3), all);
    std::vector<double> centres(kLines, 11.5);
    EXPECT_EQ(slices_of(how, by_projections(data), centres), all);
    centres[3] = 12;
    EXPECT_THROW((void)slices_of(how, by_projections(data), centres), Error);
  }
}

TEST(ReconArrays, ACardMakesTheSame) {
  const std::vector<float> data = projections(11.5);
  ReconJob how;
  const auto want = slices_of(how, by_projections(data), {11.5});
  how.backend = Backend::kEmulate;
  const auto got = slices_of(how, by_projections(data), {11.5}, 1, Backend::kEmulate);
  for (std::size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-5) << i;
}

TEST(ReconArrays, WhatIsNoNumberCountsAsNothing) {
  std::vector<float> data = projections(11.5);
  data[5 * kWide + 7] = std::numeric_limits<float>::quiet_NaN();
  data[6 * kWide + 7] = std::numeric_limits<float>::infinity();
  for (const float value : slices_of({}, by_projections(data), {11.5})) {
    ASSERT_TRUE(std::isfinite(value));
  }
}

TEST(ReconArrays, WhatDoesNotFitIsAnError) {
  const std::vector<float> data = projections(11.5);
  for (const std::vector<double>& centres :
       {std::vector<double>{1, 2}, std::vector<double>{24}, std::vector<double>{NAN}}) {
    EXPECT_THROW((void)slices_of({}, by_projections(data), centres), Error);
  }
}

TEST(ReconArrays, IterationsThatGrowBeyondAnyNumberAreAnError) {
  const std::vector<float> data = projections(11.5);
  const auto run = [&](Method method, double reg_par, Gram gram) {
    ReconJob how;
    how.method = method;
    how.reg_par = reg_par;
    how.gram = gram;
    (void)slices_of(how, by_projections(data), {11.5});
  };
  // 1 is what TomoPy takes by itself
  const std::vector<std::tuple<Method, double, Gram>> grow{{Method::kGrad, 1, Gram::kRays},
                                                           {Method::kGrad, 1e3, Gram::kFft},
                                                           {Method::kPmlQuad, 1e30, Gram::kRays}};
  for (const auto& [method, reg_par, gram] : grow) {
    const auto thrown = loom::test::thrown_by([&] { run(method, reg_par, gram); });
    EXPECT_EQ(thrown.status, Status::kUnsupported);
    EXPECT_TRUE(thrown.says("--reg-par")) << thrown.message;
    run(method, 1e-3, gram);
  }
}

TEST(ReconArrays, WhatIsThrownBetweenGroupsEndsTheWork) {
  const std::vector<float> data = projections(11.5);
  std::vector<float> out(kLines * kWide * kWide);
  SerialExecutor serial;
  int calls = 0;
  EXPECT_THROW(reconstruct_arrays({}, by_projections(data), kWide, theta(),
                                  std::vector<double>{11.5}, out, serial,
                                  [&] {
                                    if (++calls == 2) throw Error(Status::kInterrupted, "stop");
                                  }),
               Error);
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace tomoloom
