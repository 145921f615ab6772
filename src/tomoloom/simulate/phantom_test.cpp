// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/simulate/phantom.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "loom/base/error.hpp"

namespace tomoloom {
namespace {

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

TEST(Phantom, AProjectionOfADiscIsItsChords) {
  const Sight sight{.columns = 100, .rows = 1, .centre = 49.5, .scale = 0.02};
  std::vector<double> line(100);
  project_row(phantom("disc"), sight, 0, 0.7, line);
  // 35 pixels in radius: the chord through the middle, averaged over a pixel, is 70 - 1/(12 35)
  EXPECT_NEAR(line[49], 0.02 * 69.9929, 1e-4);
  EXPECT_NEAR(line[49], line[50], 1e-12);
  EXPECT_EQ(line[13], 0);
  EXPECT_GT(line[15], 0);
  EXPECT_NEAR(sum_of(line), 0.02 * std::numbers::pi * 35 * 35, 1e-9);
}

TEST(Phantom, EveryAngleSeesTheSameMassAsTheSlice) {
  const Sight sight{.columns = 128, .rows = 3, .centre = 63.5};
  for (const std::string& name : phantom_names()) {
    const auto slice = true_slice(phantom(name), sight, 1);
    const double mass = std::accumulate(slice.begin(), slice.end(), 0.0);
    for (const double theta : {0.0, 0.4, 1.9, 3.0}) {
      std::vector<double> line(128);
      project_row(phantom(name), sight, 1, theta, line);
      // the slice is made of 8 x 8 points a pixel
      EXPECT_NEAR(sum_of(line), mass, 2e-3 * mass) << name << " " << theta;
    }
  }
}

/// Chords through a tilted scan, by stepping along the ray.
TEST(Phantom, ATiltedAxisIsSeenAsRaysThatCrossItsRows) {
  const Phantom body{{1, .3, -.2, .1, .3, .2, .15, 25}, {-.5, 0, .1, -.1, .5, .4, .3, 0}};
  const Sight sight{.columns = 40, .rows = 30, .centre = 20.3, .scale = 0.5, .tilt = 0.3};
  const auto value = [&](double u, double v, double z) {  // in pixels
    double sum = 0;
    for (const Ellipsoid& e : body) {
      const double turn = e.turn * std::numbers::pi / 180, du = u / 20 - e.u, dv = v / 20 - e.v;
      const double a = (du * std::cos(turn) + dv * std::sin(turn)) / e.semi_u;
      const double b = (dv * std::cos(turn) - du * std::sin(turn)) / e.semi_v;
      const double c = (z / 20 - e.z) / e.semi_z;
      if (a * a + b * b + c * c < 1) sum += e.value;
    }
    return 0.5 * sum;
  };
  std::vector<double> line(40);
  for (const double theta : {0.0, 0.8, 4.0}) {
    for (const std::size_t row : {9U, 14U, 17U}) {
      project_row(body, sight, row, theta, line);
      for (const std::size_t x : {15U, 20U, 24U}) {
        constexpr double kStep = 0.01;
        double sum = 0;
        for (int part = 0; part < 8; ++part) {  // of the pixel
          const double t = static_cast<double>(x) + (part + 0.5) / 8 - 0.5 - 20.3;
          for (double along = -40; along < 40; along += kStep) {
            const double y = along * std::cos(0.3);
            // the row's middle, in pixels, is where z cos(tilt) + y sin(tilt) has it
            const double z = (sight.height(row) * 20 - y * std::sin(0.3)) / std::cos(0.3);
            sum += kStep / 8 *
                   value(t * std::cos(theta) - y * std::sin(theta),
                         t * std::sin(theta) + y * std::cos(theta), z);
          }
        }
        EXPECT_NEAR(line[x], sum, 0.03) << theta << " " << row << " " << x;
      }
    }
  }
}

TEST(Phantom, ATiltOfNextToNothingIsNone) {
  const Phantom body = phantom("shepp-logan");
  Sight sight{.columns = 64, .rows = 9, .centre = 31};
  std::vector<double> upright(64), tilted(64);
  project_row(body, sight, 5, 0.7, upright);
  sight.tilt = 1e-9;
  project_row(body, sight, 5, 0.7, tilted);
  for (std::size_t x = 0; x < 64; ++x) EXPECT_NEAR(tilted[x], upright[x], 1e-6);
}

TEST(Phantom, ABodyThatIsOffTheAxisTurnsAroundIt) {
  const Sight sight{.columns = 200, .rows = 1, .centre = 90};
  const Phantom small{{1, .3, .2, 0, .1, .1, 1, 0}};
  for (const double theta : {0.0, 1.0, 2.5}) {
    std::vector<double> line(200);
    project_row(small, sight, 0, theta, line);
    double at = 0;
    for (std::size_t x = 0; x < line.size(); ++x) at += static_cast<double>(x) * line[x];
    EXPECT_NEAR(at / sum_of(line), 90 + 30 * std::cos(theta) + 20 * std::sin(theta),
                1e-3);  // of pixels
  }
}

TEST(Phantom, TheSliceHasTheBodyWhereTheProjectionsSayItIs) {
  const Sight sight{.columns = 64, .rows = 1, .centre = 31.5};
  const auto slice = true_slice({{1, .5, .25, 0, .1, .1, 1, 0}}, sight, 0);
  double column = 0, row = 0, mass = 0;
  for (std::size_t i = 0; i < slice.size(); ++i) {
    mass += static_cast<double>(slice[i]);
    column += static_cast<double>(i % 64) * static_cast<double>(slice[i]);
    row += static_cast<double>(i / 64) * static_cast<double>(slice[i]);
  }
  EXPECT_NEAR(column / mass, 31.5 + 16, 1e-3);
  EXPECT_NEAR(row / mass, 31.5 - 8, 1e-3);  // v points up
}

TEST(Phantom, RowsAreCutsAtTheirHeight) {
  const Sight sight{.columns = 100, .rows = 81, .centre = 49.5};
  std::vector<double> middle(100), high(100), off(100);
  project_row(phantom("ball"), sight, 40, 0, middle);
  project_row(phantom("ball"), sight, 60, 0, high);
  project_row(phantom("ball"), sight, 80, 0, off);
  EXPECT_NEAR(sum_of(middle), std::numbers::pi * 900, 1e-9);
  EXPECT_NEAR(sum_of(high), std::numbers::pi * (900 - 400), 1e-9);
  EXPECT_EQ(sum_of(off), 0);
}

TEST(Phantom, AnUnknownNameIsAnError) { EXPECT_THROW((void)phantom("cube"), Error); }

}  // namespace
}  // namespace tomoloom
