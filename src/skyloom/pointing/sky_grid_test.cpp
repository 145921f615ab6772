// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/pointing/sky_grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "loom/base/error.hpp"
#include "loom/testing/dice.hpp"
#include "loom/testing/test_files.hpp"
#include "skyloom/pointing/expand.hpp"

namespace skyloom {
namespace {

using loom::test::Dice;
using loom::test::thrown_by;

struct Known {
  SkyPlace place;
  std::size_t column, row;
};

void expect_places(const SkyGrid& grid, std::initializer_list<Known> all) {
  for (const Known& known : all) {
    EXPECT_EQ(grid.pixel(direction_of(known.place)), grid.at(known.column, known.row))
        << known.place.lon_deg << " " << known.place.lat_deg;
  }
}

/// Made with astropy 7's WCS of the headers that write_image() makes.
TEST(SkyGrid, HasAstropysPixels) {
  expect_places(SkyGrid(wcs_grid_of("car:170,-40,20,10,0.25")), {{{170.1, -40.1}, 39, 19},
                                                                 {{179.9, -35.1}, 0, 39},
                                                                 {{160.2, -44.9}, 79, 0},
                                                                 {{165.33, -38.71}, 58, 25}});
  expect_places(
      SkyGrid(wcs_grid_of("tan:350,60,30,20,0.5")),
      {{{350.2, 60.1}, 29, 20}, {{10, 55}, 7, 13}, {{335, 66}, 42, 33}, {{352.4, 69.3}, 28, 38}});
}

TEST(SkyGrid, NumbersEachPlaceOnceInTilesThatItHas) {
  for (const char* text : {"car:10,0,10,5,0.3", "tan:0,90,8,8,0.5", "car:0,0,0.4,0.2,0.1"}) {
    const WcsGrid wcs = wcs_grid_of(text);
    const SkyGrid grid(wcs);
    std::set<Pixel> seen;
    for (std::size_t row = 0; row < wcs.rows; ++row) {
      for (std::size_t column = 0; column < wcs.columns; ++column) {
        const Pixel pixel = grid.at(column, row);
        EXPECT_TRUE(seen.insert(pixel).second);
        EXPECT_LT(static_cast<std::size_t>(pixel) >> grid.tile_shift(), grid.tiles());
      }
    }
    EXPECT_GE(*seen.begin(), 0);
  }
}

TEST(SkyGrid, SaysWhatIsOutside) {
  const SkyGrid car(wcs_grid_of("car:350,10,40,10,0.5"));
  EXPECT_GE(car.pixel(direction_of({9.9, 10})), 0);  // over the end of longitudes
  EXPECT_EQ(car.pixel(direction_of({10.1, 10})), -1);
  EXPECT_EQ(car.pixel(direction_of({350, 15.1})), -1);
  EXPECT_EQ(car.pixel(direction_of({170, -10})), -1);
  const SkyGrid tan(wcs_grid_of("tan:0,0,20,20,0.5"));
  EXPECT_GE(tan.pixel({1, 0, 0}), 0);
  EXPECT_EQ(tan.pixel({-1, 0, 0}), -1);
  EXPECT_EQ(tan.pixel({0, 1, 0}), -1);
}

TEST(SkyGrid, RefusesWhatIsNoGrid) {
  for (const char* text :
       {"", "car", "car:", "car:1,2,3,4", "car:1,2,3,4,5,6", "sin:0,0,1,1,0.1", "car:0,88,10,10,1",
        "tan:0,0,150,1,1", "car:0,0,1,1,0", "car:0,0,1,1,nan", "car:0,0,360,180,0.001",
        "car:0,0,1,1,5", "car:x,0,1,1,0.1"}) {
    EXPECT_EQ(thrown_by([&] { (void)wcs_grid_of(text); }).status, Status::kUsage) << text;
  }
}

TEST(Expand, SeesAFlatGridWithTheSameWeights) {
  const FocalPlane plane = hexagon({.pixels = 7, .width_deg = 10, .leakage = 0.05});
  const Boresight boresight = satellite_boresight({.spin_minutes = 1.3}, 5, 0, 3000);
  const SkyGrid grid(wcs_grid_of("car:0,0,360,180,1")), sky{Healpix(16)};
  std::vector<Pixel> a(3000), b(3000), c(3000);
  std::vector<double> q(3000), u(3000), p(3000), v(3000);
  expand_pointing(boresight, 0, plane.detectors[3], grid, {a, q, u});
  expand_pointing(boresight, 0, plane.detectors[3], sky, {b, p, v});
  EXPECT_EQ(q, p);
  EXPECT_EQ(u, v);
  expand_pointing_reference(boresight, 0, plane.detectors[3], Healpix(16), {c, p, v});
  EXPECT_EQ(b, c);
  for (const Pixel pixel : a) EXPECT_GE(pixel, 0);
}

TEST(Expand, FindsTheCellsOfTheOracleInEveryInstructionSet) {
  const Detector detector = hexagon({.pixels = 7, .width_deg = 10}).detectors[4];
  const std::size_t n = 20'000;
  const Boresight boresight =
      satellite_boresight({.spin_minutes = 1.3, .precession_minutes = 17}, 5, 0, n);
  for (const char* text : {"car:170,-40,120,80,0.1", "car:350,10,360,160,0.37",
                           "car:15,-5,360,170,0.37", "car:-500,0,30,180,2", "tan:20,60,119,110,0.2",
                           "tan:0,-90,60,60,0.05", "tan:60,30,90,60,0.01"}) {
    const SkyGrid grid(wcs_grid_of(text));
    std::vector<Pixel> want(n);
    std::vector<double> q(n), u(n);
    expand_pointing_reference(boresight, 0, detector, grid, {want, q, u});
    for (const Isa isa : available_isas()) {
      std::vector<Pixel> found(n);
      expand_pointing(boresight, 0, detector, grid, {found, q, u}, isa);
      std::size_t apart = 0;  // on a border but for rounding
      for (std::size_t i = 0; i < n; ++i) apart += found[i] == want[i] ? 0 : 1;
      EXPECT_LE(apart, 1U) << text << " " << isa_name(isa);
    }
    EXPECT_GT(std::count_if(want.begin(), want.end(), [](Pixel p) { return p >= 0; }), 5) << text;
  }
}

/// Texts with some letters changed: a grid whose every pixel is one that there is, or a refusal.
TEST(SkyGrid, OfAnyTextHasPixelsThatThereAre) {
  const std::string letters = "0123456789.,-+e:carn tif";
  const Detector detector;
  const Boresight boresight =
      satellite_boresight({.spin_minutes = 1.3, .precession_minutes = 17}, 5, 0, 200);
  std::vector<Pixel> pixels(200);
  std::vector<double> q(200), u(200);
  std::size_t grids = 0;
  for (std::size_t round = 0; round < 3000; ++round) {
    Dice dice(round);
    std::string text = dice.one_in(2) ? "car:170,-40,20,10,0.25" : "tan:350,60,30,20,0.5";
    for (std::size_t n = 1 + dice.below(4); n > 0; --n) {
      const std::size_t at = dice.below(text.size() + 1);
      const char letter = letters[dice.below(letters.size())];
      if (at == text.size() || dice.one_in(3)) {
        text.insert(at, 1, letter);
      } else {
        text[at] = letter;
      }
    }
    try {
      const SkyGrid grid(wcs_grid_of(text));
      ++grids;
      expand_pointing(boresight, 0, detector, grid, {pixels, q, u});
      const auto most = static_cast<Pixel>(grid.tiles() << grid.tile_shift());
      for (const Pixel pixel : pixels) {
        ASSERT_GE(pixel, -1) << text;
        ASSERT_LT(pixel, most) << text;
      }
    } catch (const Error& error) {
      ASSERT_EQ(error.status(), Status::kUsage) << text;
      ASSERT_EQ(std::string(error.what()).find('\n'), std::string::npos) << text;
    }
  }
  EXPECT_GT(grids, 100U);
  EXPECT_LT(grids, 2500U);
}

TEST(SkyGrid, KnowsTheCellOfEachPixel) {
  const WcsGrid wcs = wcs_grid_of("car:10,0,10,5,0.3");
  const SkyGrid grid(wcs);
  for (std::size_t row = 0; row < wcs.rows; ++row) {
    for (std::size_t column = 0; column < wcs.columns; ++column) {
      const GridCell found = grid.cell(grid.at(column, row));
      EXPECT_EQ(found.column, column);
      EXPECT_EQ(found.row, row);
    }
  }
}

}  // namespace
}  // namespace skyloom
