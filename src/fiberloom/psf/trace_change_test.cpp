// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/psf/trace_change.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "loom/base/error.hpp"

namespace fiberloom {
namespace {

LegendreSeries series(double low, double high, double first, double step, double slope) {
  LegendreSeries s{low, high, Array2D<double>(3, 2, 0.0)};
  for (std::size_t f = 0; f < 3; ++f) {
    s.coef(f, 0) = first + step * static_cast<double>(f);
    s.coef(f, 1) = slope;
  }
  return s;
}

/// Three fibres at columns 20, 40, 60.
PsfModel small_psf() {
  PsfModel psf;
  psf.x = series(5000, 5100, 20, 20, 0);
  psf.y = series(4990, 5120, 60, 0, 60);
  psf.sigma_x = psf.sigma_y = series(4999, 5101, 1, 0, 0);
  return psf;
}

TraceChange small_change(int degree) {
  TraceChange change;
  change.domain = {20, 60, 5010, 5090};
  change.degree = degree;
  const std::size_t n = trace_terms(degree).size();
  for (std::size_t p = 0; p < kTraceParameters; ++p) {
    for (std::size_t t = 0; t < n; ++t)
      change.coef[p].push_back(0.01 * static_cast<double>(p + 1) / static_cast<double>(t + 1));
  }
  return change;
}

TEST(ChangedPsf, IsThePsfPlusThePolynomialWhateverTheDomainOfASeries) {
  const PsfModel psf = small_psf();
  for (const int degree : {0, 1, 2, 4}) {
    const TraceChange change = small_change(degree);
    const PsfModel moved = changed_psf(psf, change);
    for (std::size_t f = 0; f < 3; ++f) {
      for (const double wave : {4995.0, 5010.0, 5033.3, 5100.0}) {
        const std::vector<double> term =
            trace_term_values(degree, static_cast<double>(f) - 1, wave_place(change.domain, wave));
        const auto expected = [&](TraceParameter p) {
          double sum = 0;
          for (std::size_t t = 0; t < term.size(); ++t)
            sum += change.coef[static_cast<std::size_t>(p)][t] * term[t];
          return sum;
        };
        EXPECT_NEAR(moved.x(f, wave) - psf.x(f, wave), expected(TraceParameter::kX), 1e-13);
        EXPECT_NEAR(moved.y(f, wave) - psf.y(f, wave), expected(TraceParameter::kY), 1e-13);
        EXPECT_NEAR(moved.sigma_y(f, wave) - psf.sigma_y(f, wave),
                    expected(TraceParameter::kSigmaY), 1e-13);
      }
    }
  }
}

TEST(ChangedPsf, LeavesFibresWithoutTraceOrSpotAsTheyAre) {
  PsfModel psf = small_psf();
  psf.x.coef(1, 0) = std::numeric_limits<double>::quiet_NaN();
  psf.sigma_x.coef(2, 0) = 0;  // switched off
  const PsfModel moved = changed_psf(psf, small_change(1));
  EXPECT_EQ(moved.y.coef(1, 0), psf.y.coef(1, 0));
  EXPECT_EQ(moved.sigma_x.coef(2, 0), 0);
  EXPECT_NE(moved.sigma_x.coef(0, 0), psf.sigma_x.coef(0, 0));
}

TEST(ChangedPsf, HasFibresBeyondTheDomainChangeAsItsOutermost) {
  TraceChange change = small_change(1);
  change.domain.x_last = 40;
  EXPECT_EQ(fiber_place(change.domain, small_psf(), 2), 1);
  change.domain.x_last = 20;
  EXPECT_EQ(fiber_place(change.domain, small_psf(), 2), 0) << "a domain of one fibre";
}

}  // namespace
}  // namespace fiberloom
