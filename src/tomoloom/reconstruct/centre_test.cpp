// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/reconstruct/centre.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "loom/base/rng.hpp"
#include "loom/runtime/executors.hpp"
#include "tomoloom/simulate/phantom.hpp"

namespace tomoloom {
namespace {

struct Case {
  std::size_t columns = 192, rows = 8;
  double centre = 95.5, noise = 0, rings = 0, arc = std::numbers::pi;
  bool last_included = false;
  double size = 1;  ///< of the body
  bool pairs = false;
};

std::optional<double> found(const Case& c, Executor& executor) {
  constexpr std::size_t kAngles = 240;
  std::vector<double> theta;
  for (std::size_t a = 0; a < kAngles; ++a) {
    theta.push_back(c.arc * static_cast<double>(a) /
                    static_cast<double>(kAngles - (c.last_included ? 1 : 0)));
  }
  const Sight sight{.columns = c.columns, .rows = c.rows, .centre = c.centre, .scale = 0.01};
  Phantom body = phantom("shepp-logan");
  for (Ellipsoid& e : body) {
    for (double* length : {&e.u, &e.v, &e.z, &e.semi_u, &e.semi_v, &e.semi_z}) *length *= c.size;
  }
  std::vector<float> values(kAngles * c.rows * c.columns);
  std::vector<double> line(c.columns);
  const CounterRng rng(11, 0), rings(12, 0);
  for (std::size_t a = 0; a < kAngles; ++a) {
    for (std::size_t r = 0; r < c.rows; ++r) {
      project_row(body, sight, r, theta[a], line);
      for (std::size_t x = 0; x < c.columns; ++x) {
        const std::size_t i = (a * c.rows + r) * c.columns + x;
        values[i] = static_cast<float>(line[x] + c.noise * rng.normal(i) +
                                       c.rings * rings.normal(r * c.columns + x));
      }
    }
  }
  const double n = static_cast<double>(c.columns);
  const StackView rows{.data = values.data(),
                       .slices = c.rows,
                       .angle_stride = c.rows * c.columns,
                       .slice_stride = c.columns};
  return c.pairs ? find_centre_of_pairs(rows, c.columns, theta, n / 4, 3 * n / 4)
                 : find_centre(rows, c.columns, theta, n / 4, 3 * n / 4, executor);
}

std::optional<double> found(const Case& c) {
  SerialExecutor serial;
  return found(c, serial);
}

TEST(FindCentre, IsWithinATenthOfAPixelWithNoiseAndRings) {
  for (const double centre : {80.0, 95.5, 97.3, 110.85}) {
    const Case clean{.centre = centre, .size = 0.8};
    EXPECT_NEAR(found(clean).value_or(0), centre, 0.1);
    Case noisy = clean;
    noisy.noise = noisy.rings = 0.02;
    EXPECT_NEAR(found(noisy).value_or(0), centre, 0.1);
  }
}

TEST(FindCentre, IsNearWhereTheBodyIsCutOffAtTheEdgeOfTheRow) {
  for (const double centre : {80.0, 110.85}) {  // 88 pixels of body, 80 of row
    EXPECT_NEAR(found({.centre = centre, .noise = 0.02, .rings = 0.02}).value_or(0), centre, 0.25);
  }
}

TEST(FindCentre, TakesWholeTurnsAndLastAnglesThatRepeatTheFirst) {
  EXPECT_NEAR(found({.centre = 93.2, .last_included = true}).value_or(0), 93.2, 0.1);
  EXPECT_NEAR(found({.centre = 93.2, .arc = 2 * std::numbers::pi}).value_or(0), 93.2, 0.1);
}

TEST(FindCentre, OfPairsIsWithinAQuarterOfAPixel) {
  for (const double centre : {80.0, 95.5, 110.85}) {
    for (const bool both : {true, false}) {  // 0 and 180 degrees both there, or a step less
      const Case clean{.centre = centre, .last_included = both, .size = 0.8, .pairs = true};
      EXPECT_NEAR(found(clean).value_or(0), centre, both ? 0.05 : 0.25) << both;
      Case noisy = clean;
      noisy.noise = noisy.rings = 0.02;
      EXPECT_NEAR(found(noisy).value_or(0), centre, 0.25) << both;
    }
  }
  const double turn = 2 * std::numbers::pi;  // pairs all over
  EXPECT_NEAR(
      found({.centre = 93.2, .noise = 0.05, .arc = turn, .size = 0.8, .pairs = true}).value_or(0),
      93.2, 0.15);
  EXPECT_EQ(found({.arc = 2.5, .pairs = true}), std::nullopt);
}

TEST(FindCentre, SaysWhenTheAnglesDoNotTell) { EXPECT_EQ(found({.arc = 2.0}), std::nullopt); }

TEST(FindCentre, DoesNotDependOnThreads) {
  const auto threads = make_executor(3);
  EXPECT_EQ(found({.centre = 99, .noise = 0.05}), found({.centre = 99, .noise = 0.05}, *threads));
}

}  // namespace
}  // namespace tomoloom
