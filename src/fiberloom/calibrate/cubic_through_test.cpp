// SPDX-License-Identifier: BSD-3-Clause
// Splines against cubics, and against SciPy's numbers.
#include "fiberloom/calibrate/cubic_through.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace fiberloom::calibrate {
namespace {

const std::vector<double> kNodes{0, 1, 2.5, 3, 4.2, 6};
constexpr std::array kAt{0.3, 1.7, 2.9, 3.3, 5.5};

std::vector<double> sines() {
  std::vector<double> out;
  for (const double x : kNodes) out.push_back(std::sin(x));
  return out;
}

TEST(CubicThrough, IsTheCubicThatItsPointsLieOn) {
  const auto cubic = [](double x) { return 2 - x + 0.5 * x * x - 0.1 * x * x * x; };
  for (std::size_t n = 4; n <= kNodes.size(); ++n) {
    const std::vector<double> x(kNodes.begin(), kNodes.begin() + static_cast<std::ptrdiff_t>(n));
    std::vector<double> y;
    for (const double at : x) y.push_back(cubic(at));
    const CubicThrough curve(x, y, Ends::kOneCubic);
    for (const double at : {-1.0, 0.0, 0.4, 1.0, 2.0, 2.75, 3.0, 5.0, 6.0, 7.0})
      EXPECT_NEAR(curve(at), cubic(at), 1e-12) << n << " " << at;
  }
}

TEST(CubicThrough, IsSciPys) {  // scipy 1.17: RectBivariateSpline; CubicSpline, natural
  constexpr std::array kOneCubic{0.3351276338470085, 0.9561564544732336, 0.2391148368938265,
                                 -0.1506230758483699, -0.8473593551086973};
  constexpr std::array kNatural{0.2971846928366967, 0.9695498701694701, 0.24081268001977263,
                                -0.164897866066839, -0.6116487681272049};
  const CubicThrough one_cubic(kNodes, sines(), Ends::kOneCubic),
      natural(kNodes, sines(), Ends::kNatural);
  for (std::size_t i = 0; i < kAt.size(); ++i) {
    EXPECT_NEAR(one_cubic(kAt[i]), kOneCubic[i], 1e-14);
    EXPECT_NEAR(natural(kAt[i]), kNatural[i], 1e-14);
  }
}

TEST(CubicThrough, IsTheSameAlongAGrid) {
  const CubicThrough curve(kNodes, sines(), Ends::kOneCubic);
  const std::vector<double> grid{-1, 0, 0, 0.5, 1, 2.4, 2.5, 3, 5, 6, 6, 7};
  const std::vector<double> along = curve.along(grid);
  for (std::size_t i = 0; i < grid.size(); ++i) EXPECT_EQ(along[i], curve(grid[i])) << grid[i];
}

TEST(CubicThrough, OfThreePointsIsStraightAtItsEnds) {
  const CubicThrough curve({0, 1, 2}, {0, 1, 0}, Ends::kNatural);
  EXPECT_EQ(curve(1), 1);
  EXPECT_NEAR(curve(0.5), 0.6875, 1e-15);  // 1.5 x - 0.5 x^3
}

}  // namespace
}  // namespace fiberloom::calibrate
