// SPDX-License-Identifier: BSD-3-Clause
// Flat maps that are read again: where their cells lie, what is compared, shown and told of them.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "loom/testing/test_executor.hpp"
#include "loom/testing/test_files.hpp"
#include "skyloom/pointing/sky_grid.hpp"
#include "skyloom/recipes/compare_maps.hpp"
#include "skyloom/recipes/inspect_file.hpp"
#include "skyloom/recipes/pictures.hpp"
#include "skyloom/recipes/view_maps.hpp"
#include "skyloom/sky/wcs_fits.hpp"
#include "skyloom/status.hpp"

namespace skyloom {
namespace {

using loom::test::read_bytes;
using loom::test::TempFolder;
using loom::test::thrown_by;
using loom::test::write_bytes;

ImagePlace image_of(const WcsGrid& grid) {
  return ImagePlace::around(grid.projection == Projection::kTan ? "TAN" : "CAR",
                            grid.middle.lon_deg, grid.middle.lat_deg, grid.columns, grid.rows,
                            grid.cell_deg);
}

/// Two planes: the cell's number, and that of others; one cell of the first has no value.
void write_planes(const std::string& path, const ImagePlace& place, double shift = 0) {
  const MapFile file{.columns = {"I_STOKES", "Q_STOKES", "U_STOKES"},
                     .unit = "K",
                     .type = MapType::kFloat64,
                     .frame = "G"};
  write_image(path, Overwrite::kYes, place, file,
              [&](std::size_t column, std::size_t row, double* out) {
                const auto number = static_cast<double>(row * place.columns + column);
                out[0] = column == 3 && row == 2 ? kUnseen : number;
                out[1] = -number;
                out[2] = number + (column == 5 && row == 4 ? shift : 0);
              });
}

/// The same file with other text in a card's value.
void change_card(const std::string& path, const std::string& from, const std::string& to) {
  std::vector<std::uint8_t> bytes = read_bytes(path);
  std::string text(bytes.begin(), bytes.end());
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  ASSERT_EQ(from.size(), to.size());
  text.replace(at, to.size(), to);
  for (const char* key : {"CHECKSUM", "DATASUM "}) {  // of the header before
    if (const std::size_t sum = text.find(key); sum != std::string::npos) {
      text.replace(sum, 8, "OLD     ");
    }
  }
  write_bytes(path, std::vector<std::uint8_t>(text.begin(), text.end()));
}

TEST(FlatPoints, LieInTheCellsThatPointingFinds) {
  for (const char* text : {"car:170,-40,30,20,0.5", "car:0,0,360,180,5", "tan:170,-40,30,20,0.5",
                           "tan:3,88,60,50,1"}) {
    const WcsGrid wcs = wcs_grid_of(text);
    const SkyGrid grid(wcs);
    const ImagePlace image = image_of(wcs);
    for (std::size_t row = 0; row < wcs.rows; ++row) {
      for (std::size_t column = 0; column < wcs.columns; ++column) {
        const FlatPoint point{.column = static_cast<double>(column) + 0.3,
                              .row = static_cast<double>(row) + 0.8};
        const SkyPlace place = sky_place_of(image, point);
        ASSERT_EQ(grid.pixel(direction_of(place)), grid.at(column, row)) << text;
        const auto back = flat_point_of(image, place);
        ASSERT_TRUE(back) << text;
        ASSERT_NEAR(back->column, point.column, 1e-9) << text;
        ASSERT_NEAR(back->row, point.row, 1e-9) << text;
      }
    }
    EXPECT_NEAR(middle_of(image).lat_deg, wcs.middle.lat_deg, 1e-9);
  }
  EXPECT_FALSE(flat_point_of(image_of(wcs_grid_of("tan:170,-40,30,20,0.5")), {350, 40}));
  EXPECT_FALSE(flat_point_of(image_of(wcs_grid_of("car:170,-40,30,20,0.5")), {170, -51}));
}

TEST(FlatMaps, AreReadAsTheyWereWritten) {
  const TempFolder folder;
  const std::string path = folder.file("m.fits");
  const ImagePlace place = image_of(wcs_grid_of("car:350,-10,10,5,0.5"));
  write_planes(path, place);
  const MapTable map(path);
  ASSERT_NE(map.image(), nullptr);
  EXPECT_TRUE(same_cells(*map.image(), place));
  EXPECT_EQ(map.names(), (std::vector<std::string>{"I_STOKES", "Q_STOKES", "U_STOKES"}));
  EXPECT_EQ(map.unit(), "K");
  EXPECT_EQ(map.frame(), "G");
  const std::vector<double> i = map.column(0), q = map.column(1);
  ASSERT_EQ(i.size(), 200U);
  for (std::size_t k = 0; k < i.size(); ++k) {
    EXPECT_EQ(q[k], -static_cast<double>(k));
    if (k == 43) {
      EXPECT_TRUE(std::isnan(i[k]));
    } else {
      EXPECT_EQ(i[k], static_cast<double>(k));
    }
  }
  EXPECT_EQ(thrown_by([&] { (void)read_sky(path); }).status, kPixelisation);
  const FileReport report = inspect_file(path);
  EXPECT_EQ(report.kind, "flat map (WCS)");
  ASSERT_EQ(report.facts.size(), 6U);
  EXPECT_EQ(report.facts[1].second, "20 x 10 of 0.5 degrees");
  EXPECT_EQ(report.facts[2].second, "350, -10 degrees");
  EXPECT_EQ(report.facts[5].second, "1");
}

TEST(FlatMaps, OfOneGridAreComparedAndOthersRefused) {
  const TempFolder folder;
  const std::string a = folder.file("a.fits"), b = folder.file("b.fits");
  const WcsGrid grid = wcs_grid_of("tan:10,20,10,5,0.5");
  write_planes(a, image_of(grid));
  WcsGrid turned = grid;
  turned.middle.lon_deg += 360;  // the same cells
  write_planes(b, image_of(turned), -7);
  const MapDifference found = compare_maps(a, b, Means::kKept);
  EXPECT_EQ(found.width, 20U);
  ASSERT_EQ(found.columns.size(), 3U);
  EXPECT_EQ(found.columns[0].pixels, 199U);
  EXPECT_EQ(found.columns[0].rms, 0);
  EXPECT_NEAR(found.columns[2].rms, 7 / std::sqrt(200.0), 1e-14);
  EXPECT_EQ(found.columns[2].largest, 7);
  EXPECT_EQ(found.columns[2].largest_at, 4 * 20 + 5);
  for (const char* other : {"tan:10.1,20,10,5,0.5", "tan:10,20,10,5.5,0.5", "car:10,20,10,5,0.5",
                            "tan:10,20.1,10,5,0.5", "tan:10,20,5,2.5,0.25"}) {
    write_planes(b, image_of(wcs_grid_of(other)));
    EXPECT_EQ(thrown_by([&] { (void)compare_maps(a, b, Means::kKept); }).status, kPixelisation)
        << other;
  }
}

TEST(FlatMaps, OfOtherGridsThanOursAreRefused) {
  const TempFolder folder;
  const std::string path = folder.file("m.fits");
  const auto status_with = [&](const std::string& from, const std::string& to) {
    write_planes(path, image_of(wcs_grid_of("car:10,-20,10,5,0.5")));
    change_card(path, from, to);
    return thrown_by([&] { (void)MapTable(path); }).status;
  };
  EXPECT_EQ(status_with("GLON-CAR", "GLON-AIT"), Status::kUnsupported);
  EXPECT_EQ(status_with("CRVAL2  =                  0.0", "CRVAL2  =                -20.0"),
            Status::kUnsupported);
  EXPECT_EQ(status_with("CDELT1  =                 -0.5", "CDELT1  =                  0.5"),
            Status::kUnsupported);
  EXPECT_EQ(status_with("CUNIT1  = 'deg     '          ", "CROTA2  =                 12.0"),
            Status::kUnsupported);
  EXPECT_EQ(status_with("CRPIX1  ", "CRPIXX  "), Status::kMissingKeyword);
  EXPECT_EQ(status_with("CTYPE2  ", "CTYPEX  "), Status::kMissingHdu);
}

TEST(FlatPictures, ShowCellsNorthUpAndEastLeft) {
  const MapGrid grid{.image = image_of(wcs_grid_of("tan:10,20,10,5,0.5"))};
  std::vector<double> values(grid.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  const Pictures pictures(grid, middle_of(*grid.image), 2);
  Json json = pictures.json(values, "I", "map");
  EXPECT_EQ(json["whole"]["width"].get<std::int64_t>(), 20);
  EXPECT_EQ(json["whole"]["height"].get<std::int64_t>(), 10);
  // levels from 0 to 199: the first one is the cell in the east of the northmost row, 180 / 199
  const std::string data = json["whole"]["data"].get<std::string>();
  const double level = std::round(180 / json["whole"]["step"].get<double>());
  const auto first = static_cast<unsigned>(level);
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const unsigned low = first & 255, high = first >> 8;
  EXPECT_EQ(data.substr(0, 2),
            std::string({letters[low >> 2], letters[(low & 3) << 4 | high >> 4]}));
  EXPECT_EQ(json["part"]["cells"].dump(-1), "[8,3,4,4]");
  Json alone = Pictures(grid, {10, 20}, 10).json(values, "I", "map");
  EXPECT_TRUE(alone["part"].is_null());
  EXPECT_EQ(thrown_by([&] { (void)Pictures(grid, {100, 20}, 2); }).status, Status::kUsage);
  // where most samples are: a square of 16 x 16 cells, here the half one in the west
  std::vector<double> hits(grid.size(), NAN);
  for (const std::size_t i : {17U, 38U, 39U}) hits[i] = 5;
  const auto at = flat_point_of(*grid.image, busiest(grid, hits));
  ASSERT_TRUE(at);
  EXPECT_NEAR(at->column, 18, 1e-9);
  EXPECT_NEAR(at->row, 5, 1e-9);
}

TEST(FlatPictures, OfLargeMapsAreShrunk) {
  const MapGrid grid{.image = image_of(wcs_grid_of("car:0,0,100,50,0.05"))};
  const std::vector<double> values(grid.size(), 1.0);
  Json json = Pictures(grid, {0, 0}, 40).json(values, "I", "map");
  EXPECT_EQ(json["whole"]["width"].get<std::int64_t>(), 640);
  EXPECT_EQ(json["whole"]["height"].get<std::int64_t>(), 320);
  EXPECT_EQ(json["part"]["width"].get<std::int64_t>(), 320);
  EXPECT_EQ(json["part"]["cells"].dump(-1), "[600,100,800,800]");
}

TEST(ViewMaps, ShowsFlatMapsWithoutSpectra) {
  const TempFolder folder;
  SerialExecutor one;
  const WcsGrid grid = wcs_grid_of("tan:10,20,10,5,0.5");
  write_planes(folder.file("a.fits"), image_of(grid));
  write_planes(folder.file("b.fits"), image_of(grid), 3);
  ViewJob job{.folder = folder.file("a.fits"), .other = folder.file("b.fits"), .size_deg = 2};
  const std::string page = view_maps(job, one);
  EXPECT_NE(page.find("\"grid\":{"), std::string::npos);
  EXPECT_NE(page.find("\"of\":\"difference\""), std::string::npos);
  EXPECT_NE(page.find("\"spectra\":[]"), std::string::npos);
  TestThreads three(3);
  EXPECT_EQ(view_maps(job, three), page);
  write_planes(folder.file("b.fits"), image_of(wcs_grid_of("tan:10,21,10,5,0.5")));
  EXPECT_EQ(thrown_by([&] { (void)view_maps(job, one); }).status, kPixelisation);
  job.other.clear();
  job.middle = SkyPlace{100, 20};
  EXPECT_EQ(thrown_by([&] { (void)view_maps(job, one); }).status, Status::kUsage);
}

}  // namespace
}  // namespace skyloom
