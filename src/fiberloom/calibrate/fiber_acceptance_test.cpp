// SPDX-License-Identifier: BSD-3-Clause
// Shares of light against the tables they are of, and what follows for fibres.
#include "fiberloom/calibrate/fiber_acceptance.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace fiberloom::calibrate {
namespace {

/// Linear in each of its axes: a table between whose nodes, and beyond them, it is itself.
double plane(double radius, double sigma, double offset) {
  return (0.9 - 0.005 * sigma) * (1 - 0.004 * offset) * (1 - 0.2 * radius);
}

FocalPlane small_plane() {
  FocalPlane out;
  FiberAcceptance& a = out.acceptance;
  a.sigma = {20, 40, 70};
  a.offset = {0, 50, 100};
  a.radius = {0.2, 1, 2};
  for (const double s : a.sigma) {
    for (const double o : a.offset) a.point.push_back(plane(0, s, o));
  }
  for (const double r : a.radius) {
    for (const double s : a.sigma) {
      for (const double o : a.offset) {
        a.disk.push_back(plane(r, s, o));
        a.bulge.push_back(0.5 * plane(r, s, o));
      }
    }
  }
  out.radius = {0, 100, 400};
  out.radial = {64, 81, 100};
  out.azimuth = {64, 64, 64};
  out.fiber_um = 107, out.fiber_as = 1.52;
  return out;
}

TEST(FiberAcceptance, IsLinearBetweenNodesAndBeyondThem) {
  const FiberAcceptance a = small_plane().acceptance;
  for (const double sigma : {10.0, 20.0, 33.0, 40.0, 69.0, 90.0}) {
    for (const double offset : {0.0, 20.0, 50.0, 75.0, 120.0}) {
      EXPECT_NEAR(caught_of_point(a, sigma, offset), plane(0, sigma, offset), 1e-14);
      for (const double radius : {0.1, 0.45, 1.0, 1.5, 2.5}) {
        EXPECT_NEAR(caught_of_disk(a, radius, sigma, offset), plane(radius, sigma, offset), 1e-14);
        EXPECT_NEAR(caught_of_bulge(a, radius, sigma, offset), 0.5 * plane(radius, sigma, offset),
                    1e-14);
      }
    }
  }
  EXPECT_EQ(caught_of_point(a, 30, 300), 0);  // no share is below 0
  EXPECT_EQ(caught_of_point(a, -200, 0), 1);  // nor above 1
}

TEST(FiberAcceptance, TellsTheSeeingByTheShareOfAPoint) {
  const FiberAcceptance a = small_plane().acceptance;
  for (const double sigma : {20.0, 25.0, 55.0, 70.0})
    EXPECT_NEAR(sigma_of_share(a, plane(0, sigma, 0)), sigma, 1e-11);
  EXPECT_EQ(sigma_of_share(a, 0.95), 20);  // within the nodes
  EXPECT_EQ(sigma_of_share(a, 0.01), 70);
}

TEST(PlateScale, IsLinearInTheSquareOfTheRadius) {
  const FocalPlane p = small_plane();
  EXPECT_EQ(plate_scale(p, 0, 0), 64);
  EXPECT_NEAR(plate_scale(p, 60, 80), 72, 1e-12);
  EXPECT_NEAR(plate_scale(p, 50, 0), 64 + 8 * 0.25, 1e-12);
  EXPECT_NEAR(plate_scale(p, 0, -1000), 80, 1e-12);
}

Table fibermap() {
  Table out;
  const std::vector<std::string> kinds{"TGT", "TGT", "SKY", "TGT", "TGT"};
  out.add("OBJTYPE", std::span<const std::string>(kinds), 3);
  const double nan = std::nan("");
  out.add("FIBER_X", std::span<const double>(std::vector<double>{0, 60, 0, 0, nan}));
  out.add("FIBER_Y", std::span<const double>(std::vector<double>{0, 80, 0, 0, 300}));
  out.add("DELTA_X", std::span<const double>(std::vector<double>{0, 0.03, 0, 0.4, nan}));
  out.add("DELTA_Y", std::span<const double>(std::vector<double>{0, 0.04, 0, 0, 0}));
  return out;
}

TEST(FiberPlaces, TakesWhatIsNoNumberForTheMiddle) {
  const auto places = fiber_places(fibermap());
  ASSERT_TRUE(places);
  EXPECT_EQ(places->x, (std::vector<double>{0, 60, 0, 0, 0}));
  EXPECT_EQ(places->y, (std::vector<double>{0, 80, 0, 0, 0}));
  EXPECT_NEAR(places->offset[1], 50, 1e-12);
  EXPECT_EQ(places->offset[4], 0);
  Table without = fibermap();
  std::erase_if(without.columns, [](const Column& c) { return c.name == "FIBER_Y"; });
  EXPECT_FALSE(fiber_places(without));
  EXPECT_FALSE(flat_to_psf_flux(without, small_plane(), 1.1));
}

TEST(FlatToPsfFlux, UndoesWhatFibersLoseOfAPoint) {
  const FocalPlane p = small_plane();
  const auto out = flat_to_psf_flux(fibermap(), p, 1.1);
  ASSERT_TRUE(out);
  const auto lost = [&](double scale, double offset) {
    return 1 / (plane(0, 1.1 / 2.35 * scale, offset) * scale * scale);
  };
  const double middle = lost(64, 0);  // of 0, 1, 4: two of them are alike, and in the middle
  EXPECT_NEAR((*out)[0], lost(64, 0) / middle, 1e-13);
  EXPECT_NEAR((*out)[1], lost(72, 50) / middle, 1e-13);
  EXPECT_EQ((*out)[2], 1);  // of the sky
  EXPECT_EQ((*out)[3], 0);  // 400 micron off its target
  EXPECT_NEAR((*out)[4], 1, 1e-13);
}

TEST(PsfToFiberFlux, IsTheLightOfASurveysFibre) {
  const FocalPlane p = small_plane();
  Table map = fibermap();
  const double nominal = 1 / 2.35 * 107 / 1.5, sigma = 1.1 / 2.35 * 64;
  const double norm = 0.789 / plane(0, nominal, 0);
  const auto points = psf_to_fiber_flux(map, p, 1.1);
  ASSERT_TRUE(points);
  for (const std::size_t f : {0, 1, 2, 4}) EXPECT_NEAR((*points)[f], 0.789, 1e-13) << f;
  EXPECT_EQ((*points)[3], 0);  // 400 micron off its target
  const std::vector<std::string> types{"PSF", "EXP", "REX", "DEV", "SER"};
  map.add("MORPHTYPE", std::span<const std::string>(types), 4);
  map.add("SHAPE_R", std::span<const double>(std::vector<double>{1, 0.5, 3, 1, std::nan("")}));
  const auto both = psf_to_fiber_flux(map, p, 1.1);
  EXPECT_NEAR((*both)[0], 0.789, 1e-13);
  const double far = 1.1 / 2.35 * 72;
  EXPECT_NEAR((*both)[1], plane(0, far, 50) * norm * plane(0.5, nominal, 0) / plane(0.5, far, 50),
              1e-13);
  EXPECT_NEAR((*both)[2], plane(0, sigma, 0) * norm * plane(2, nominal, 0) / plane(2, sigma, 0),
              1e-13);
  EXPECT_NEAR((*both)[4], 0.789, 1e-13);  // no size
}

}  // namespace
}  // namespace fiberloom::calibrate
