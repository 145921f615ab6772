// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/compare_maps.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "loom/testing/test_executor.hpp"
#include "loom/testing/test_files.hpp"
#include "skyloom/recipes/make_maps.hpp"
#include "skyloom/recipes/projection.hpp"
#include "skyloom/recipes/test_maps.hpp"
#include "skyloom/recipes/view_maps.hpp"
#include "skyloom/status.hpp"
#include "skyloom/tod/simulated_tod.hpp"

namespace skyloom {
namespace {

using loom::test::TempFolder;
using loom::test::thrown_by;
using test::small_maps;
using test::small_simulation;
using test::some_sky;

TEST(CompareColumns, CountsWhatIsInOneAloneAndMeasuresTheRest) {
  const std::vector<double> a{1, 2, NAN, 4, 9}, b{1, 1, 3, NAN, 5};
  const ColumnDifference kept = compare_columns("I", a, b, Means::kKept);
  EXPECT_EQ(kept.pixels, 3U);
  EXPECT_EQ(kept.first_alone, 1U);
  EXPECT_EQ(kept.second_alone, 1U);
  EXPECT_NEAR(kept.rms, std::sqrt((0 + 1 + 16) / 3.0), 1e-14);
  EXPECT_EQ(kept.largest, 4);
  EXPECT_EQ(kept.largest_at, 4);
  std::vector<double> shifted = b;
  for (double& value : shifted) value += 7;
  EXPECT_NEAR(compare_columns("I", shifted, b, Means::kTakenOff).rms, 0, 1e-14);
  EXPECT_NEAR(compare_columns("I", shifted, b, Means::kKept).rms, 7, 1e-14);
  EXPECT_EQ(compare_columns("I", {}, {}, Means::kKept).pixels, 0U);
}

TEST(CompareColumns, OfAMapThatIsAllAlikeAreBeyondAnyRelativeBound) {
  const std::vector<double> a{1, 2}, none{0, 0};
  EXPECT_EQ(compare_columns("I", a, none, Means::kKept).relative, INFINITY);
  EXPECT_EQ(compare_columns("I", none, none, Means::kKept).relative, 0);
}

TEST(CompareMaps, TellsOfOtherUnitsAndCoordinates) {
  const TempFolder folder;
  std::vector<std::string> told;
  Observer observer;
  observer.message = [&](LogLevel, const std::string& text) { told.push_back(text); };
  const auto warnings = [&](const char* unit, const char* frame) {
    told.clear();
    for (const char* name : {"a.fits", "b.fits"}) {
      const bool first = std::string(name) == "a.fits";
      write_map(folder.file(name), Overwrite::kYes, Healpix(1),
                {.columns = {"I"}, .unit = first ? "K" : unit, .frame = first ? "C" : frame},
                [](Pixel, double* out) { *out = 1; });
    }
    (void)compare_maps(folder.file("a.fits"), folder.file("b.fits"), Means::kKept, observer);
    return told.size();
  };
  EXPECT_EQ(warnings("K", "C"), 0U);
  EXPECT_EQ(warnings("K_CMB", "EQUATORIAL"), 0U);
  EXPECT_EQ(warnings("", ""), 0U);
  EXPECT_EQ(warnings("uK", "C"), 1U);
  EXPECT_EQ(warnings("K", "G"), 1U);
  EXPECT_NE(told.at(0).find("COORDSYS C"), std::string::npos) << told[0];
}

TEST(CompareMaps, TellsOfColumnsAtOtherPlaces) {
  const TempFolder folder;
  std::vector<std::string> told;
  Observer observer;
  observer.message = [&](LogLevel, const std::string& text) { told.push_back(text); };
  const auto warnings = [&](const std::vector<std::string>& columns) {
    told.clear();
    write_map(folder.file("a.fits"), Overwrite::kYes, Healpix(1),
              {.columns = {"I_STOKES", "Q_STOKES", "U_STOKES"}, .unit = "K"},
              [](Pixel, double* out) { std::fill_n(out, 3, 1.0); });
    write_map(folder.file("b.fits"), Overwrite::kYes, Healpix(1), {.columns = columns, .unit = "K"},
              [](Pixel, double* out) { std::fill_n(out, 3, 1.0); });
    (void)compare_maps(folder.file("a.fits"), folder.file("b.fits"), Means::kKept, observer);
    return told.size();
  };
  EXPECT_EQ(warnings({"TEMPERATURE", "Q-POLARISATION", "U-POLARISATION"}), 0U);
  EXPECT_EQ(warnings({"a", "b", "c"}), 0U);
  EXPECT_EQ(warnings({"I_STOKES", "HITS", "II_COV"}), 1U);
  EXPECT_NE(told.at(0).find("I_STOKES HITS II_COV: they are compared by their places"),
            std::string::npos)
      << told[0];
  EXPECT_EQ(warnings({"I", "U", "Q"}), 1U);
}

TEST(Projections, ShowTheSkyFromBelow) {
  // the middle, and to the left of it the east
  const auto middle = mollweide(320, 160, 640, 0), left = mollweide(200, 160, 640, 0);
  ASSERT_TRUE(middle && left);
  EXPECT_NEAR(middle->x, 1, 1e-2);
  EXPECT_GT(left->y, 0.5);
  EXPECT_FALSE(mollweide(0, 0, 640, 0));
  EXPECT_GT(mollweide(320, 2, 640, 0)->z, 0.98);
  const SkyPlace at{.lon_deg = 50, .lat_deg = -30};
  const SkyPlace found = place_of(gnomonic(100, 100, 201, 10, at));
  EXPECT_NEAR(found.lon_deg, 50, 1e-10);
  EXPECT_NEAR(found.lat_deg, -30, 1e-10);
  EXPECT_NEAR(place_of(gnomonic(100, 0, 201, 10, at)).lat_deg, -25, 0.05);
  EXPECT_GT(place_of(gnomonic(0, 100, 201, 10, at)).lon_deg, 55);
}

TEST(Mollweide, HasEqualAreas) {
  // every pixel of the paper is as much of the sky: north of 30 degrees is a quarter of it
  std::size_t all = 0, north = 0;
  for (std::size_t i = 0; i < 640 * 320; ++i) {
    const auto to = mollweide(i % 640, i / 640, 640, 0);
    if (!to) continue;
    ++all;
    north += to->z > 0.5 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(north) / static_cast<double>(all), 0.25, 0.003);
}

TEST(ViewMaps, MakesThePageOfAFolderTheSameForAnyExecutor) {
  const TempFolder folder;
  SerialExecutor one;
  const SimulatedTod source(small_simulation(), some_sky(64));
  make_maps(source, small_maps(folder.file("a")), one);
  MapJob other = small_maps(folder.file("b"));
  other.binned_only = true;
  make_maps(source, other, one);
  const ViewJob job{.folder = folder.file("a"), .other = folder.file("b"), .multipoles = 20};
  const std::string page = view_maps(job, one);
  EXPECT_NE(page.find("\"difference\""), std::string::npos);
  EXPECT_EQ(page.find("http://"), page.find("http://www.w3.org/2000/svg"));
  TestThreads three(3);
  EXPECT_EQ(view_maps(job, three), page);
  // one map alone, without hits
  EXPECT_NE(view_maps({.folder = folder.file("a/rcond.fits"), .multipoles = 0}, one).find("RCOND"),
            std::string::npos);
  EXPECT_EQ(thrown_by([&] { (void)view_maps({.folder = folder.file("c")}, one); }).status,
            Status::kNotFound);
  // other columns
  const ViewJob unlike{.folder = folder.file("a"), .other = folder.file("a/hits.fits")};
  EXPECT_EQ(thrown_by([&] { (void)view_maps(unlike, one); }).status, kPixelisation);
  loom::test::write_bytes(folder.file("a/summary.json"), std::vector<std::uint8_t>{'{', 'x'});
  EXPECT_EQ(thrown_by([&] { (void)view_maps(job, one); }).status, Status::kCorrupt);
}

TEST(ViewMaps, ShowsTheColumnsThatAreStokesParametersWhereverTheyStand) {
  const TempFolder folder;
  SerialExecutor one;
  const auto write = [&](const char* name, const std::vector<std::string>& columns) {
    write_map(folder.file(name), Overwrite::kYes, Healpix(4), {.columns = columns, .unit = "K"},
              [&](Pixel pixel, double* out) {
                for (std::size_t c = 0; c < columns.size(); ++c) {
                  out[c] = std::sin(static_cast<double>(pixel) * (columns[c][0] - 'A'));
                }
              });
  };
  write("plain.fits", {"I_STOKES", "Q_STOKES", "U_STOKES"});
  write("turned.fits", {"HITS", "U_STOKES", "Q_STOKES", "I_STOKES"});
  const std::string both =
      view_maps({.folder = folder.file("turned.fits"), .other = folder.file("plain.fits")}, one);
  EXPECT_EQ(both.find("HITS"), std::string::npos);
  std::size_t alike = 0;
  for (std::size_t at = 0; (at = both.find("\"largest\":0.0,", at)) != std::string::npos; ++at)
    ++alike;
  EXPECT_EQ(alike, 3U);
  // as Planck's of I alone: hits and a variance are no polarisation
  write("alone.fits", {"I_STOKES", "HITS", "II_COV"});
  const std::string page = view_maps({.folder = folder.file("alone.fits")}, one);
  EXPECT_EQ(page.find("HITS"), std::string::npos);
  EXPECT_NE(page.find("\"ee\":[]"), std::string::npos);
}

TEST(SkyPlace, IsTwoNumbers) {
  EXPECT_EQ(sky_place_of("10,-20.5").lat_deg, -20.5);
  for (const char* text : {"", "10", "10,", "10,91", "a,b", "1,2,3"}) {
    EXPECT_EQ(thrown_by([&] { (void)sky_place_of(text); }).status, Status::kUsage) << text;
  }
}

}  // namespace
}  // namespace skyloom
