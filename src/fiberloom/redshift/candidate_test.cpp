// SPDX-License-Identifier: BSD-3-Clause
// The rules by which candidates become an answer, case by case; priors.
#include "fiberloom/redshift/candidate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fiberloom/redshift/prior.hpp"

namespace fiberloom::redshift {
namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

Candidate make(const char* type, double z, double chi2, std::uint32_t zwarn = 0) {
  Candidate c;
  c.spectype = type;
  c.z = z;
  c.chi2 = chi2;
  c.zwarn = zwarn;
  c.good_pixels = 1000;
  c.coefficients.assign(4, 1.0);
  c.least_separation_kms = c.spectype == "STAR" ? 100 : 1000;
  return c;
}

TEST(FindMinima, TakesEndsAndPlateausLowestFirst) {
  using Indices = std::vector<std::size_t>;
  EXPECT_EQ(find_minima(std::vector<double>{1, 1, 1, 2, 2, 2}), (Indices{0, 1, 2, 4, 5}));
  EXPECT_EQ(find_minima(std::vector<double>{5, 3, 4, 2, 6, 1}), (Indices{5, 3, 1}));
  EXPECT_EQ(find_minima(std::vector<double>{kNoValue, HUGE_VAL, 2, 1, 3, HUGE_VAL, kNoValue}),
            (Indices{3}));
  EXPECT_EQ(find_minima(std::vector<double>{7}), (Indices{0}));
  EXPECT_TRUE(find_minima({}).empty());
}

TEST(Parabola, IsExactAtAnyRedshift) {
  for (const double z0 : {-0.001, 0.3, 6.0}) {
    const std::array<double, 3> x{z0 - 1.3e-4, z0 - 1e-5, z0 + 9e-5};
    std::array<double, 3> y;
    for (std::size_t i = 0; i < 3; ++i) y[i] = 1e4 + std::pow((x[i] - z0 - 2e-5) / 3e-5, 2);
    const Parabola p = parabola(x, y);
    EXPECT_TRUE(p.good);
    EXPECT_NEAR(p.x0, z0 + 2e-5, 1e-12);
    EXPECT_NEAR(p.width, 3e-5, 1e-12);
    EXPECT_NEAR(p.y0, 1e4, 1e-8);
  }
}

TEST(Parabola, IsNotGoodUpsideDownOutsideOrBelowZero) {
  const std::array<double, 3> x{0, 1, 2};
  EXPECT_FALSE(parabola(x, std::array<double, 3>{1, 2, 1}).good);
  EXPECT_GT(parabola(x, std::array<double, 3>{1, 2, 1}).width, 0);
  EXPECT_FALSE(parabola(x, std::array<double, 3>{5, 3, 2}).good);  // minimum at 2.5
  EXPECT_FALSE(parabola(x, std::array<double, 3>{1, -1, 1}).good);
  EXPECT_FALSE(parabola(x, std::array<double, 3>{1, 1, 1}).good);
  EXPECT_FALSE(parabola(x, std::array<double, 3>{1, 2, 3}).good);
}

TEST(Rank, PutsGoodFitsFirstThenByChi2AndKeepsSomeOfEachType) {
  std::vector<Candidate> c{make("GALAXY", 1, 50, zwarn::kBadMinimum),
                           make("GALAXY", 0.5, 100),
                           make("QSO", 2, 90),
                           make("GALAXY", 0.7, 120),
                           make("STAR", 0, 95),
                           make("STAR", 0.001, 96),
                           make("STAR", -0.001, 97)};
  rank(c, 2);
  std::vector<double> z;
  for (const Candidate& each : c) z.push_back(each.z);
  EXPECT_EQ(z, (std::vector<double>{2, 0, 0.001, 0.5, 0.7}));
}

TEST(Rank, DeltaChi2IsToTheNextGoodFitAtAnotherRedshift) {
  // 0.5015 is 300 km/s away: the same redshift for galaxies; the star's limit counts in a pair
  std::vector<Candidate> c{make("GALAXY", 0.5, 100), make("QSO", 0.5015, 103),
                           make("STAR", 0.0, 130), make("GALAXY", 0.9, 105, zwarn::kFitLimit)};
  rank(c, 3);
  EXPECT_EQ(c[0].delta_chi2, 30);
  EXPECT_EQ(c[1].delta_chi2, 27);
  EXPECT_EQ(c[2].delta_chi2, 0);  // only a bad fit follows
  EXPECT_EQ(c[3].delta_chi2, 0);  // the last one
  EXPECT_EQ(c[0].zwarn, 0U);
}

TEST(Rank, TheSmallerLimitOfAPairSeparates) {
  std::vector<Candidate> c{make("GALAXY", 0.001, 100), make("STAR", 0.0, 105)};
  rank(c, 3);  // 300 km/s: beyond the star's 100
  EXPECT_EQ(c[0].delta_chi2, 5);
  EXPECT_EQ(c[0].zwarn, zwarn::kSmallDeltaChi2);
  EXPECT_EQ(c[1].zwarn, zwarn::kSmallDeltaChi2);
}

TEST(Rank, DoubtsTheLikeliestWhereAnotherFitsBetterOrItIsNotLikely) {
  const auto ambiguous = [](double chi2, double probability) {
    std::vector<Candidate> c{make("GALAXY", 0.5, chi2), make("QSO", 1.5, 100)};
    c[0].probability = probability;
    rank(c, 3, RankBy::kProbability);
    EXPECT_EQ(c.front().spectype, "GALAXY");
    return (c.front().zwarn & zwarn::kSmallDeltaChi2) != 0;
  };
  EXPECT_FALSE(ambiguous(50, 0.9));
  EXPECT_TRUE(ambiguous(50, 0.4));
  EXPECT_TRUE(ambiguous(150, 0.9));  // likelier, though its chi2 is higher
}

TEST(Rank, DoubtsTheLikeliestWhereOneWithoutAValleyFitsMuchBetter) {
  for (const double chi2 : {99.0, 50.0}) {
    std::vector<Candidate> c{make("GALAXY", 0.5, chi2), make("QSO", 1.5, 100)};
    c[0].zwarn = zwarn::kBadMinimum;
    c[0].probability = c[1].probability = 0.9;
    rank(c, 3, RankBy::kProbability);
    EXPECT_EQ(c.front().spectype, "QSO");  // the one with a valley comes first
    EXPECT_EQ(c.front().zwarn, chi2 < 91 ? zwarn::kSmallDeltaChi2 : 0U);
  }
}

TEST(Rank, CountsPixels) {
  std::vector<Candidate> c{make("GALAXY", 1, 10), make("QSO", 2, 100)};
  c[0].good_pixels = 39;
  c[1].good_pixels = 40;
  rank(c, 3);
  EXPECT_EQ(c[0].zwarn, zwarn::kLittleCoverage);
  EXPECT_EQ(c[1].zwarn, 0U);
  c = {no_fit(PreparedTarget{}, Template{})};
  rank(c, 3);
  EXPECT_EQ(c[0].zwarn, zwarn::kNoData);  // no coefficients, so not too few pixels for them
  EXPECT_EQ(c[0].chi2, kHugeChi2);
}

TEST(Prior, FollowsTheFormulas) {
  EXPECT_EQ(prior_chi2({Prior::Shape::kGaussian, 1, 0.1}, 1.2), std::pow((1.2 - 1) / 0.1, 2));
  EXPECT_NEAR(prior_chi2({Prior::Shape::kLorentzian, 1, 0.1}, 1.2), 2 * std::log(5), 1e-13);
  EXPECT_EQ(prior_chi2({Prior::Shape::kTopHat, 1, 0.1}, 1.049), 0);
  EXPECT_EQ(prior_chi2({Prior::Shape::kTopHat, 1, 0.1}, 1.051), HUGE_VAL);
  EXPECT_EQ(prior_chi2({}, 1.051), 0);
}

TEST(Prior, ThePeersTopHatHasFences) {
  const std::vector<double> z{0, 1, 2, 3, 4, 5};
  const auto text = [&](double middle, double width) {
    std::string out;
    for (const double v : redrock_prior({Prior::Shape::kTopHat, middle, width}, z)) {
      out += std::isnan(v) ? 'n' : v > 0 ? 'i' : '0';
    }
    return out;
  };
  EXPECT_EQ(text(2.5, 2), "ni00in");
  EXPECT_EQ(text(0.5, 2), "i0innn");
  EXPECT_EQ(text(5, 3), "nnni0i");
  EXPECT_EQ(text(9, 1), "nnnnnn");
}

}  // namespace
}  // namespace fiberloom::redshift
