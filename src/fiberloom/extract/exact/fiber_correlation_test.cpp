// SPDX-License-Identifier: BSD-3-Clause
// Where correlations are written and where not, that no range of fibres changes them; their values
// are held to a dense inverse in exact_oracle_test. Products of bands against plain sums.
#include "fiberloom/extract/exact/fiber_correlation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "fiberloom/extract/exact/band_products.hpp"
#include "fiberloom/extract/exact/engine.hpp"
#include "fiberloom/extract/test_psf.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::exact {
namespace {

/// Rows of kLanes numbers, zero where the column is outside of n columns.
std::vector<double> random_band(int n, int width, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> m(static_cast<std::size_t>(n * (2 * width + 1)) * kLanes);
  for (int j = 0; j < n; ++j) {
    for (int e = -width; e <= width; ++e) {
      for (int i = 0; i < kLanes; ++i) {
        const double v = uniform(random);
        const auto at = static_cast<std::size_t>((j * (2 * width + 1) + width + e) * kLanes + i);
        m[at] = j + e >= 0 && j + e < n ? v : 0.0;
      }
    }
  }
  return m;
}

TEST(BandProducts, AreThePlainSums) {
  const int n = 40, a_width = 5, b_width = 9, out_width = 11;
  std::vector<double> a = random_band(n, a_width, 1), b = random_band(n, b_width, 2);
  std::vector<double> out(static_cast<std::size_t>(n * (2 * out_width + 1)) * kLanes, 7.0);
  const Band<const double> left{a.data(), a_width, 2 * a_width + 1};
  const Band<const double> right{b.data(), b_width, 2 * b_width + 1};
  const Band<double> result{out.data(), out_width, 2 * out_width + 1};
  band_products(active_isa()).product(n, left, right, result);
  for (int j = 0; j < n; ++j) {
    for (int d = -out_width; d <= out_width; ++d) {
      for (int i = 0; i < kLanes; ++i) {
        double sum = 0;
        for (int e = -a_width; e <= a_width; ++e) {
          if (j + e < 0 || j + e >= n || std::abs(d - e) > b_width) continue;
          sum += left.at(j, e)[i] * right.at(j + e, d - e)[i];
        }
        EXPECT_NEAR(result.at(j, d)[i], sum, 1e-13) << j << " " << d << " " << i;
      }
    }
  }
}

struct SmallFrame {
  PsfModel psf;
  CcdFrame ccd;
  ExtractOptions options;
  explicit SmallFrame(double pitch = 5.2) {
    test::SmallPsf shape;
    shape.pitch = pitch;
    shape.nfiber = 6;
    shape.npix_y = 160;
    psf = test::make_psf(shape);
    ccd = test::make_frame(psf, 17);
    options.wave = test::make_grid(40, 0.9);
    options.bundle_size = 3;
    options.fiber_correlation = true;
  }
  [[nodiscard]] ExtractResult extract() const {
    SerialExecutor executor;
    return extract_exact(ccd, psf, options, executor);
  }
};

double largest(const Array3D<float>& c, std::size_t spec) {
  double most = 0;
  for (std::size_t k = 0; k < c.rows(); ++k) {
    for (std::size_t j = 0; j < c.cols(); ++j)
      most = std::max(most, std::abs(static_cast<double>(c(spec, k, j))));
  }
  return most;
}

class OfAPitch : public testing::TestWithParam<double> {};

TEST_P(OfAPitch, EndsWithTheBundleAndChangesNothingElse) {
  SmallFrame frame(GetParam());
  const ExtractResult got = frame.extract();
  const Array3D<float>& c = got.fiber_correlation;
  ASSERT_EQ(c.planes(), 6U);
  ASSERT_EQ(c.rows(), 11U);
  ASSERT_EQ(c.cols(), 40U);
  for (const std::size_t spec : {0, 1, 3, 4}) {
    EXPECT_GT(largest(c, spec), 1e-5) << spec;
    EXPECT_LT(largest(c, spec), 1) << spec;
  }
  for (const std::size_t spec : {2, 5}) EXPECT_EQ(largest(c, spec), 0) << spec;
  frame.options.fiber_correlation = false;
  const ExtractResult plain = frame.extract();
  EXPECT_TRUE(plain.fiber_correlation.empty());
  EXPECT_TRUE(
      std::equal(plain.flux.data(), plain.flux.data() + plain.flux.size(), got.flux.data()));
}

TEST_P(OfAPitch, IsTheSameForAnyRangeOfFibres) {
  SmallFrame frame(GetParam());
  const ExtractResult whole = frame.extract();
  frame.options.spec_min = 3;
  frame.options.nspec = 2;
  const ExtractResult part = frame.extract();
  for (std::size_t k = 0; k < 11; ++k) {
    for (std::size_t j = 0; j < 40; ++j) {
      EXPECT_EQ(part.fiber_correlation(0, k, j), whole.fiber_correlation(3, k, j));
      EXPECT_EQ(part.fiber_correlation(1, k, j), 0) << "the next is not there";
    }
  }
}

// where second neighbours matter and the sweeps go by pairs, and where not
INSTANTIATE_TEST_SUITE_P(FiberCorrelation, OfAPitch, testing::Values(5.2, 7.3));

TEST(FiberCorrelation, IsZeroWhereABinKnowsNothing) {
  SmallFrame frame;
  ExtractResult got = frame.extract();
  got.ivar(1, 20) = 0;
  got.fiber_correlation(0, 5, 22) = NAN;  // not computed: told, and no NaN leaves
  got.fiber_correlation(1, 5, 20) = NAN;
  EXPECT_EQ(clear_lost_correlations(got), 1U);
  EXPECT_EQ(got.fiber_correlation(0, 5, 22), 0);
  for (std::size_t k = 0; k < 11; ++k) {
    EXPECT_EQ(got.fiber_correlation(1, k, 20), 0);
    EXPECT_EQ(got.fiber_correlation(0, k, 25 - k), 0);
  }
  EXPECT_NE(got.fiber_correlation(0, 5, 21), 0);
}

TEST(FiberCorrelation, IsRefusedWhereItMeansNothing) {
  SmallFrame frame;
  frame.options.oversample = 2;
  EXPECT_THROW((void)frame.extract(), Error);
  frame.options.oversample = 1;
  frame.options.decorrelate_fibers = true;
  EXPECT_THROW((void)frame.extract(), Error);
}

}  // namespace
}  // namespace fiberloom::exact
