// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fiberloom/psf/spot_plan.hpp"

namespace fiberloom {
namespace {

LegendreSeries series(std::size_t nfiber, std::vector<double> c, double per_fiber = 0,
                      double lo = 5000, double hi = 6000) {
  LegendreSeries s{lo, hi, Array2D<double>(nfiber, c.size())};
  for (std::size_t f = 0; f < nfiber; ++f) {
    for (std::size_t k = 0; k < c.size(); ++k) s.coef(f, k) = c[k];
    s.coef(f, 0) += per_fiber * static_cast<double>(f);
  }
  return s;
}

PsfModel model(int degree, int hx, int hy) {
  PsfModel psf;
  psf.npix_x = 80;
  psf.npix_y = 400;
  psf.hsize_x = hx;
  psf.hsize_y = hy;
  psf.gh_deg_x = psf.gh_deg_y = degree;
  psf.x = series(4, {20.3, 2.1, -0.7}, 7.3);
  psf.y = series(4, {200, 230, 5}, 0.9);
  psf.sigma_x = series(4, {1.1, 0.1}, 0.01, 4990, 6020);
  psf.sigma_y = series(4, {1.2, -0.1}, 0.0, 4990, 6020);
  for (int i = 0; i < (degree + 1) * (degree + 1); ++i) {
    psf.gh.push_back(
        series(4, {i == 0 ? 1.0 : 0.03 * std::sin(i), 0.01 * std::cos(i)}, 0.0, 4990, 6020));
  }
  return psf;
}

std::vector<double> grid(double lo, double step, int n) {
  std::vector<double> w;
  for (int i = 0; i < n; ++i) w.push_back(lo + step * i);
  return w;
}

void expect_kernel_equals_reference(const PsfModel& psf, double tolerance) {
  const auto wave = grid(5010, 7.7, 83);
  const SpotPlan plan = make_spot_plan(psf, wave);
  for (const Isa isa : available_isas()) {
    SCOPED_TRACE(isa_name(isa));
    Buffer<double> out(kLanes * plan.spot_size());
    for (int fiber = 0; fiber < plan.nfiber; ++fiber) {
      const FiberTrace trace = trace_fiber(plan, fiber);
      for (int j0 = 0; j0 < plan.nwave_padded; j0 += kLanes) {
        out.fill(-1);
        make_spots(spot_kernels(isa).spots, plan, fiber, j0, trace, out.data());
        for (int i = 0; i < kLanes && j0 + i < plan.nwave; ++i) {
          const auto j = static_cast<std::size_t>(j0 + i);
          const Spot want = spot_reference(psf, static_cast<std::size_t>(fiber), wave[j]);
          ASSERT_EQ(trace.x0[j], want.x0);
          ASSERT_EQ(trace.y0[j], want.y0);
          for (int r = 0; r < plan.ny; ++r) {
            for (int p = 0; p < plan.stride; ++p) {
              const double got = out[static_cast<std::size_t>(i) * plan.spot_size() +
                                     static_cast<std::size_t>(r * plan.stride + p)];
              const int column = p + trace.frame[j] - want.x0;
              const double ref = column >= 0 && column < plan.nx && trace.live[j]
                                     ? want.value[static_cast<std::size_t>(r * plan.nx + column)]
                                     : 0.0;
              ASSERT_NEAR(got, ref, tolerance) << "bin " << j << " row " << r << " column " << p;
            }
          }
        }
      }
    }
  }
}

/// The float32 kernel against the same reference, at places that the double one does not use.
double worst_of_float_kernel(const PsfModel& psf, Isa isa) {
  const auto wave = grid(5010, 7.7, 83);
  const SpotPlan plan = make_spot_plan(psf, wave);
  EXPECT_EQ(plan.nwave_padded % kFloatLanes, 0);
  Buffer<float> out(kFloatLanes * plan.float_spot_size());
  double worst = 0;
  for (int fiber = 0; fiber < plan.nfiber; ++fiber) {
    const FiberTrace trace = trace_fiber(plan, fiber);
    for (int j0 = 0; j0 < plan.nwave_padded; j0 += kFloatLanes) {
      out.fill(-1);
      spot_kernels(isa).float_spots(plan, fiber, j0, trace, out.data());
      for (int i = 0; i < kFloatLanes && j0 + i < plan.nwave; ++i) {
        const auto j = static_cast<std::size_t>(j0 + i);
        const Spot want = spot_reference(psf, static_cast<std::size_t>(fiber), wave[j]);
        const int frame = frame_of(want.x0, kFloatLanes);
        for (int r = 0; r < plan.ny; ++r) {
          for (int p = 0; p < plan.float_stride; ++p) {
            const float got = out[static_cast<std::size_t>(i) * plan.float_spot_size() +
                                  static_cast<std::size_t>(r * plan.float_stride + p)];
            const int column = p + frame - want.x0;
            const bool on_stamp = column >= 0 && column < plan.nx && trace.live[j];
            const double ref =
                on_stamp ? want.value[static_cast<std::size_t>(r * plan.nx + column)] : 0.0;
            EXPECT_TRUE(on_stamp || got == 0.0F) << "bin " << j << " row " << r << " column " << p;
            worst = std::max(worst, std::abs(static_cast<double>(got) - ref));
          }
        }
      }
    }
  }
  return worst;
}

void expect_float_kernel_near_reference(const PsfModel& psf) {
  for (const Isa isa : available_isas()) {
    SCOPED_TRACE(isa_name(isa));
    const double worst = worst_of_float_kernel(psf, isa);
    EXPECT_LT(worst, 1e-6);
    EXPECT_GT(worst, 1e-9) << "float32 cannot be that good: was it the double kernel?";
  }
}

TEST(SpotKernel, EqualsTheReferenceOnEveryLevel) {
  expect_kernel_equals_reference(model(6, 8, 5), 1e-15);
}

TEST(SpotKernel, EqualsTheReferenceForOtherStampsAndDegrees) {
  expect_kernel_equals_reference(model(3, 6, 4), 1e-15);
  expect_kernel_equals_reference(model(0, 9, 7), 1e-15);
}

TEST(SpotKernel, EqualsTheReferenceWithTails) {
  PsfModel psf = model(6, 8, 5);
  psf.has_tails = true;
  psf.tails = {series(4, {0.005, 0.001}), series(4, {1.1}), series(4, {1.0}), series(4, {0.9}),
               series(4, {2.1})};
  expect_kernel_equals_reference(psf, 1e-15);
}

TEST(FloatSpotKernel, IsWithinSomeRoundingsOfTheReferenceOnEveryLevel) {
  expect_float_kernel_near_reference(model(6, 8, 5));
  expect_float_kernel_near_reference(model(3, 6, 4));
  expect_float_kernel_near_reference(model(0, 9, 7));
}

TEST(FloatSpotKernel, IsWithinSomeRoundingsOfTheReferenceWithTailsAndNarrowPsf) {
  PsfModel psf = model(6, 8, 5);
  psf.has_tails = true;
  psf.tails = {series(4, {0.005, 0.001}), series(4, {1.1}), series(4, {1.0}), series(4, {0.9}),
               series(4, {2.1})};
  expect_float_kernel_near_reference(psf);
  psf = model(6, 8, 5);
  psf.sigma_x = series(4, {0.5, 0.02}, 0.01, 4990, 6020);  // below 0.71: another integral
  expect_float_kernel_near_reference(psf);
}

TEST(FloatSpotKernel, StaysFiniteForCoefficientsBeyondFloat32) {
  PsfModel psf = model(6, 8, 5);
  psf.gh[3].coef(0, 0) = 1e60;
  const SpotPlan plan = make_spot_plan(psf, grid(5010, 7.7, 83));
  const FiberTrace trace = trace_fiber(plan, 0);
  Buffer<float> out(kFloatLanes * plan.float_spot_size());
  for (const Isa isa : available_isas()) {
    out.fill(0);
    spot_kernels(isa).float_spots(plan, 0, 16, trace, out.data());
    EXPECT_TRUE(std::all_of(out.begin(), out.end() - kFloatLanes, [](float v) {
      return std::isfinite(v);
    })) << isa_name(isa);
  }
}

TEST(TraceFiber, LeavesBinsBeyondTheCcdDead) {
  const SpotPlan plan = make_spot_plan(model(6, 8, 5), grid(4500, 10, 200));
  const FiberTrace trace = trace_fiber(plan, 0);
  EXPECT_FALSE(trace.live.front());
  EXPECT_FALSE(trace.live[static_cast<std::size_t>(plan.nwave) - 1]);
  EXPECT_TRUE(trace.live[100]);
  const auto runs = std::count_if(trace.live.begin() + 1, trace.live.end(),
                                  [&](const std::uint8_t& l) { return l != *(&l - 1); });
  EXPECT_EQ(runs, 2) << "one stretch of live bins, although the extrapolated trace folds back";
}

}  // namespace
}  // namespace fiberloom
