// SPDX-License-Identifier: BSD-3-Clause
// N, y and phi of a bundle against dense sums over spot_reference(), on every level.
#include "fiberloom/extract/exact/normal_equations.hpp"

#include <gtest/gtest.h>

#include "fiberloom/extract/exact/test_bundle.hpp"
#include "loom/base/median.hpp"

namespace fiberloom::exact {
namespace {

/// Largest entry by which two differ, relative to the largest on the diagonal.
double difference(const test::Dense& got, const test::Dense& want) {
  double scale = 0;
  for (std::size_t i = 0; i < want.n; ++i) scale = std::max(scale, want(i, i));
  return largest_difference(got.value, want.value) / scale;
}

class NormalEquationsTest : public testing::TestWithParam<Isa> {};

void expect_dense_sums(TestBundle& b) {
  b.assemble_equations();
  const DenseSpots spots(b);
  const std::vector<double> weight = pixels_of(b.ccd.ivar), pixel = pixels_of(b.ccd.image);
  std::vector<double> weighted(weight), good(weight);
  for (std::size_t p = 0; p < weight.size(); ++p) {
    weighted[p] *= pixel[p];
    good[p] = weight[p] > 0 ? 1.0 : 0.0;
  }
  EXPECT_LT(difference(b.dense_of_normal(), spots.normal(weight)), 1e-13);
  EXPECT_LT(largest_difference(b.gather(b.normal().rhs_.data()), spots.transposed(weighted)),
            1e-11);
  EXPECT_LT(largest_difference(b.gather(b.normal().phi_.data()), spots.transposed(good)), 1e-13);
}

TEST_P(NormalEquationsTest, AreTheDenseSums) {
  TestBundle b(test::make_psf(), test::make_grid(45));
  b.isa = GetParam();
  expect_dense_sums(b);
}

TEST_P(NormalEquationsTest, AreTheDenseSumsOverSeveralBlocksOffTheEdgesAndWithSecondNeighbours) {
  test::SmallPsf o;
  o.nfiber = 4;
  o.pitch = 5;
  o.margin = 4;  // stamps hang over the sides
  o.npix_y = 80;
  TestBundle b(test::make_psf(o), test::make_grid(85, 0.7));
  b.isa = GetParam();
  ASSERT_EQ(b.geometry.reach, 2);
  expect_dense_sums(b);
}

TEST_P(NormalEquationsTest, AfterSomeWeightsHaveChangedAreToTheBitThoseOfTheNewOnes) {
  test::SmallPsf o;
  o.nfiber = 4;
  o.pitch = 5;  // second neighbours share pixels
  o.margin = 4;
  o.npix_y = 230;
  TestBundle b(test::make_psf(o), test::make_grid(200));
  b.isa = GetParam();
  b.assemble_equations();
  Strip& strip = b.work.strip;
  std::vector<long> changed;
  for (const auto& [row, column] : {std::pair{30L, 12L}, {31L, 12L}, {90L, 20L}, {150L, 8L}})
    changed.push_back(row * strip.pitch + column);
  for (const long at : changed) strip.weight[static_cast<std::size_t>(at)] *= 0.3;
  strip.weight[static_cast<std::size_t>(changed.back())] = 0;
  const auto pixels = [&](const TouchedPacks* touched) {
    assemble(b.plan, b.geometry, spot_kernels(b.isa).spots, b.pixel(), strip, b.work.spots,
             b.normal(), touched);
    const NormalEquations& n = b.normal();
    std::vector<double> all;
    for (const auto* part : {&n.own_, &n.cross_, &n.rhs_, &n.phi_})
      all.insert(all.end(), part->data(), part->data() + part->size());
    return all;
  };
  const TouchedPacks touched(b.plan, b.geometry, strip.pitch, changed);
  EXPECT_GT(touched.share(), 0.05);
  EXPECT_LT(touched.share(), 0.6);
  const std::vector<double> again = pixels(&touched);
  EXPECT_EQ(again, pixels(nullptr));
}

INSTANTIATE_TEST_SUITE_P(Levels, NormalEquationsTest, testing::ValuesIn(available_isas()),
                         [](const auto& test) { return std::string(isa_name(test.param)); });

TEST(NormalEquations, OfTheSameShapeTwiceHaveNothingOfTheFirst) {
  TestBundle b(test::make_psf(), test::make_grid(30));
  b.assemble_equations();
  const test::Dense first = b.dense_of_normal();
  b.ccd = test::make_frame(b.psf, 5);
  b.assemble_equations();
  EXPECT_NE(b.dense_of_normal().value, first.value);
  b.ccd = test::make_frame(b.psf);
  b.assemble_equations();
  EXPECT_EQ(b.dense_of_normal().value, first.value);
}

TEST(NormalEquations, AreSurroundedByZeros) {
  TestBundle b(test::make_psf(), test::make_grid(33));
  constexpr int kMargin = 50;
  b.assemble_equations(kMargin);
  const NormalEquations& n = b.normal();
  EXPECT_GE(n.margin, kMargin);
  for (int f = 0; f < n.nfiber; ++f) {
    for (int j = 1; j <= kMargin; ++j) {
      for (int d = 0; d <= n.band; ++d) {
        ASSERT_EQ(n.own(f, d)[-j], 0);
        ASSERT_EQ(n.own(f, d)[n.nbin - 1 + j], 0);
        if (j <= d) {
          ASSERT_EQ(n.own(f, d)[n.nbin - j], 0) << "bins that do not exist";
        }
      }
      ASSERT_EQ(n.rhs(f)[-j], 0);
      ASSERT_EQ(n.rhs(f)[n.nbin - 1 + j], 0);
    }
  }
}

TEST(LoadStrip, TakesBothTypesAndIsZeroOffTheCcd) {
  test::SmallPsf o;
  o.margin = 3;
  TestBundle b(test::make_psf(o), test::make_grid(110));
  ASSERT_LT(b.geometry.x0, 0);
  ASSERT_LT(b.geometry.y0, 0);
  Strip wide, narrow;
  load_strip(b.ccd, b.geometry, b.pixel(), wide);
  CcdFrame small;
  Array2D<float> image(b.ccd.image.rows(), b.ccd.image.cols()), ivar = image;
  for (std::size_t r = 0; r < image.rows(); ++r) {
    for (std::size_t c = 0; c < image.cols(); ++c) {
      image(r, c) = static_cast<float>(b.ccd.image.at(r, c));
      ivar(r, c) = static_cast<float>(b.ccd.ivar.at(r, c));
    }
  }
  small.image = PixelArray(std::move(image));
  small.ivar = PixelArray(std::move(ivar));
  load_strip(small, b.geometry, b.pixel(), narrow);
  ASSERT_EQ(wide.pitch % kLanes, 0);
  for (long r = 0; r < wide.rows; ++r) {
    for (long c = 0; c < wide.pitch; ++c) {
      const long y = r + wide.y0, x = c + wide.x0;
      const bool inside = y >= 0 && x >= 0 && y < b.psf.npix_y && x < b.psf.npix_x;
      const auto at = static_cast<std::size_t>(r * wide.pitch + c);
      const auto row = static_cast<std::size_t>(y), column = static_cast<std::size_t>(x);
      ASSERT_EQ(wide.pixel[at], inside ? b.ccd.image.at(row, column) : 0.0) << r << " " << c;
      ASSERT_EQ(wide.weight[at], inside ? b.ccd.ivar.at(row, column) : 0.0) << r << " " << c;
      ASSERT_EQ(narrow.pixel[at], inside ? small.image.at(row, column) : 0.0) << r << " " << c;
    }
  }
}

TEST(AddPrior, ChangesUnconstrainedBinsByTheirOwnPriorAndAllOthersByTheRidge) {
  TestBundle b(test::make_psf(), test::make_grid(12));
  b.assemble_equations();
  NormalEquations& n = b.normal();
  std::vector<double> good;
  for (int f = 0; f < n.nfiber; ++f) {
    for (int j = 0; j < n.nbin; ++j) n.phi(f)[j] = 0.9;
  }
  n.phi(0)[3] = 0.5;    // constrained, but not one that the median counts
  n.phi(1)[4] = 0.009;  // unconstrained
  n.phi(2)[5] = 0.0;
  n.own(2, 0)[5] = 0.0;  // no pixel at all
  for (int f = 0; f < n.nfiber; ++f) {
    for (int j = 0; j < n.nbin; ++j) {
      if (n.phi(f)[j] > 0.5) good.push_back(n.own(f, 0)[j]);
    }
  }
  const double median = median_of(good);
  const std::vector<double> before = b.dense_of_normal().value;
  add_prior(n, 0.25, 1e-3);
  EXPECT_EQ(n.scale, median);
  const test::Dense after = b.dense_of_normal();
  for (std::size_t u = 0; u < after.n; ++u) {
    double want = before[u * after.n + u] + 0.25 + 1e-3 * median;
    if (u == 12 + 4) want = before[u * after.n + u] + kPrior * median;
    if (u == 24 + 5) want = median;
    EXPECT_DOUBLE_EQ(after(u, u), want) << u;
    for (std::size_t v = 0; v < after.n; ++v) {
      if (v == u) continue;
      ASSERT_EQ(after(u, v), before[u * after.n + v]);
    }
  }
}

TEST(AddPrior, OfABundleWithoutLightIsOne) {
  TestBundle b(test::make_psf(), test::make_grid(12), 1);
  b.assemble_equations();
  add_prior(b.normal(), 0.0, 0.0);
  EXPECT_EQ(b.normal().scale, 1.0);
  EXPECT_EQ(b.dense_of_normal().value, test::identity(b.size()).value);
}

}  // namespace
}  // namespace fiberloom::exact
