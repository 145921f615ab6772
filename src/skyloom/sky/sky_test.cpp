// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "loom/fits/fits_reader.hpp"
#include "loom/fits/fits_writer.hpp"
#include "loom/testing/test_files.hpp"
#include "skyloom/sky/map_file.hpp"
#include "skyloom/status.hpp"

namespace skyloom {
namespace {

using loom::test::TempFolder;
using loom::test::thrown_by;

void values_of(Pixel pixel, double* out) {
  out[0] = pixel;
  out[1] = -pixel;
  out[2] = 0.5 * pixel;
}

TEST(SkyFits, GivesBackWhatWasWritten) {
  const TempFolder folder;
  const Healpix pixels(4);
  for (const Ordering ordering : {Ordering::kNested, Ordering::kRing}) {
    for (const MapType type : {MapType::kFloat32, MapType::kFloat64}) {
      write_map(folder.file("m.fits"), Overwrite::kYes, pixels,
                {.columns = {"I", "Q", "U"}, .unit = "K", .type = type, .ordering = ordering},
                values_of);
      const SkyMap sky = read_sky(folder.file("m.fits"));
      ASSERT_EQ(sky.pixels.nside(), 4);
      for (std::size_t p = 0; p < 192; ++p) {
        EXPECT_EQ(sky.values[3 * p], static_cast<float>(p));
        EXPECT_EQ(sky.values[3 * p + 2], 0.5F * static_cast<float>(p));
      }
    }
  }
}

TEST(SkyFits, UnseenPixelsAreZeroAndCounted) {
  const TempFolder folder;
  write_map(folder.file("m.fits"), Overwrite::kYes, Healpix(1), {.columns = {"I"}},
            [](Pixel p, double* out) {
              *out = p == 3 ? kUnseen : p == 4 ? std::numeric_limits<double>::quiet_NaN() : 7;
            });
  const SkyMap sky = read_sky(folder.file("m.fits"));
  EXPECT_EQ(sky.unseen, 2U);
  EXPECT_EQ(sky.values[3 * 3], 0);
  EXPECT_EQ(sky.values[3 * 5], 7);
  EXPECT_EQ(sky.values[3 * 5 + 1], 0);
  write_map(folder.file("m.fits"), Overwrite::kYes, Healpix(1), {.columns = {"I", "Q", "U"}},
            [](Pixel p, double* out) {
              out[0] = p == 3 ? kUnseen : 7;
              out[1] = p == 3 || p == 4 ? kUnseen : 7;
              out[2] = p == 5 ? kUnseen : 7;
            });
  EXPECT_EQ(read_sky(folder.file("m.fits")).unseen, 3U);
}

TEST(SkyFits, ReadsAPartOfTheSky) {
  const TempFolder folder;
  const std::vector<std::int32_t> number{5, 2};
  const std::vector<double> value{50, 20};
  RawTable table = fits::TableBuilder(2).add("PIXEL", number).add("I", value).build();
  table.header.set("ORDERING", "NESTED");
  table.header.set("NSIDE", 1);
  table.header.set("INDXSCHM", "EXPLICIT");
  const auto write = [&] {
    fits::write_fits(folder.file("m.fits"), Overwrite::kYes,
                     [&](fits::FitsWriter& writer) { writer.table("MAP", table); });
  };
  write();
  const SkyMap sky = read_sky(folder.file("m.fits"));
  EXPECT_EQ(sky.values[3 * 5], 50);
  EXPECT_EQ(sky.values[3 * 2], 20);
  EXPECT_EQ(sky.unseen, 10U);
}

TEST(SkyFits, APartThatWasWrittenComesBack) {
  const TempFolder folder;
  const std::vector<Pixel> part{3, 17, 18, 190};
  std::size_t bytes[2] = {};
  for (const Ordering ordering : {Ordering::kNested, Ordering::kRing}) {
    const std::string path = folder.file("m.fits");
    write_map(path, Overwrite::kYes, Healpix(4),
              {.columns = {"I", "Q", "U"}, .unit = "K", .ordering = ordering, .part = &part},
              values_of);
    const MapTable table(path);
    EXPECT_EQ(table.unit(), "K");
    ASSERT_EQ(table.names(), (std::vector<std::string>{"I", "Q", "U"}));
    const std::vector<double> q = table.column(1);
    std::size_t there = 0;
    for (std::size_t p = 0; p < q.size(); ++p) {
      if (std::isnan(q[p])) continue;
      EXPECT_EQ(q[p], -static_cast<double>(p));
      EXPECT_EQ(std::count(part.begin(), part.end(), static_cast<Pixel>(p)), 1) << p;
      ++there;
    }
    EXPECT_EQ(there, part.size());
    bytes[ordering == Ordering::kRing ? 1 : 0] = loom::test::read_bytes(path).size();
  }
  EXPECT_EQ(bytes[0], bytes[1]);
}

TEST(SkyFits, APartOfNoPixelsIsAMapWithoutValues) {
  const TempFolder folder;
  const std::vector<Pixel> none;
  const std::string path = folder.file("m.fits");
  write_map(path, Overwrite::kYes, Healpix(4), {.columns = {"I", "Q", "U"}, .part = &none},
            values_of);
  const std::vector<double> q = MapTable(path).column(1);
  EXPECT_EQ(q.size(), 192U);
  EXPECT_TRUE(std::ranges::all_of(q, [](double value) { return std::isnan(value); }));
}

TEST(SkyFits, SaysWhichSignUHas) {
  const TempFolder folder;
  const std::string path = folder.file("m.fits");
  const auto said = [&](std::vector<std::string> columns) {
    const std::size_t n = columns.size();
    write_map(path, Overwrite::kYes, Healpix(1), {.columns = std::move(columns)},
              [n](Pixel, double* out) { std::fill_n(out, n, 1.0); });
    return fits::FitsReader::open(path).hdus().back().header.text("POLCCONV").value_or("");
  };
  EXPECT_EQ(said({"I", "Q", "U"}), "COSMO");
  EXPECT_EQ(said({"I_STOKES", "Q_STOKES", "U_STOKES"}), "COSMO");
  EXPECT_EQ(said({"II", "IQ", "IU", "QQ", "QU", "UU"}), "COSMO");
  EXPECT_EQ(said({"HITS"}), "");
}

TEST(SkyFits, IsInKelvin) {
  const TempFolder folder;
  const std::string path = folder.file("m.fits");
  const auto read_in = [&](const char* unit) {
    write_map(path, Overwrite::kYes, Healpix(1), {.columns = {"I", "Q", "U"}, .unit = unit},
              [](Pixel, double* out) { out[0] = out[1] = out[2] = 5; });
    return read_sky(path).values[2];
  };
  for (const char* unit : {"", "K", "K_CMB"}) EXPECT_EQ(read_in(unit), 5.0F) << unit;
  for (const char* unit : {"mK", "mK,thermodynamic"}) EXPECT_EQ(read_in(unit), 5e-3F) << unit;
  for (const char* unit : {"uK", "uK_CMB", "uKCMB"}) EXPECT_EQ(read_in(unit), 5e-6F) << unit;
  for (const char* unit : {"MJy/sr", "K2", "K s(1/2)", "uK_RJ", "KRJ"}) {
    const auto refused = thrown_by([&] { (void)read_in(unit); });
    EXPECT_EQ(refused.status, Status::kUnsupported) << unit;
    EXPECT_TRUE(refused.says(unit)) << refused.message;
  }
}

TEST(SkyFits, IsInTheUnitOfEachColumn) {
  const TempFolder folder;
  const std::string path = folder.file("m.fits");
  const std::vector<double> five(12, 5.0);
  RawTable table = fits::TableBuilder(12).add("I", five).add("Q", five).add("U", five).build();
  HeaderCards units;
  units.cards = table.column_cards;
  units.set("TUNIT1", "K");
  units.set("TUNIT2", "uK");
  table.column_cards = units.cards;
  table.header.set("ORDERING", "NESTED");
  table.header.set("NSIDE", 1);
  fits::write_fits(path, Overwrite::kYes,
                   [&](fits::FitsWriter& writer) { writer.table("MAP", table); });
  const SkyMap sky = read_sky(path);
  EXPECT_EQ(sky.values[0], 5.0F);
  EXPECT_EQ(sky.values[1], 5e-6F);
  EXPECT_EQ(sky.values[2], 5.0F);
}

TEST(SkyFits, OfAnIntensityWithHitsIsNotPolarised) {
  const TempFolder folder;
  write_map(folder.file("m.fits"), Overwrite::kYes, Healpix(1),
            {.columns = {"I_STOKES", "HITS", "II_COV"}, .unit = "K_CMB"},
            [](Pixel, double* out) { out[0] = out[1] = out[2] = 5; });
  const SkyMap sky = read_sky(folder.file("m.fits"));
  EXPECT_EQ(sky.values[0], 5.0F);
  EXPECT_EQ(sky.values[1], 0.0F);
  EXPECT_EQ(sky.values[2], 0.0F);
  EXPECT_EQ(sky.beside, "HITS II_COV");
}

TEST(SkyFits, HasHealpixSignOfUWhateverTheConvention) {
  const TempFolder folder;
  const std::string path = folder.file("m.fits");
  const auto read_u = [&](const char* convention, const char* name) {
    const std::vector<double> i(12, 1.0), u{3, kUnseen, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3};
    RawTable table = fits::TableBuilder(12).add("I", i).add("Q", i).add(name, u).build();
    table.header.set("ORDERING", "NESTED");
    table.header.set("NSIDE", 1);
    table.header.set("POLCCONV", convention);
    fits::write_fits(path, Overwrite::kYes,
                     [&](fits::FitsWriter& writer) { writer.table("MAP", table); });
    const MapTable map(path);
    EXPECT_EQ(map.column(1)[0], 1);
    EXPECT_TRUE(std::isnan(map.column(2)[1]));
    EXPECT_EQ(read_sky(path).values[2], static_cast<float>(map.column(2)[0]));
    return map.column(2)[0];
  };
  EXPECT_EQ(read_u("COSMO", "U_STOKES"), 3);
  for (const char* name : {"U", "U_STOKES", "U-POLARISATION", "UNKNOWN3"}) {
    EXPECT_EQ(read_u("IAU", name), -3) << name;
  }
}

TEST(SkyFits, WantsAValueForEachPixelOfAPart) {
  const TempFolder folder;
  const std::vector<std::int32_t> number{5, 2};
  RawTable table = fits::TableBuilder(2)
                       .add("PIXEL", number)
                       .add_vector("I", std::vector<double>(2048, 1), 1024)
                       .build();
  table.header.set("ORDERING", "NESTED");
  table.header.set("NSIDE", 1);
  table.header.set("INDXSCHM", "EXPLICIT");
  fits::write_fits(folder.file("m.fits"), Overwrite::kYes,
                   [&](fits::FitsWriter& writer) { writer.table("MAP", table); });
  const auto refused = thrown_by([&] { (void)read_sky(folder.file("m.fits")); });
  EXPECT_EQ(refused.status, Status::kWrongShape);
  EXPECT_TRUE(refused.says("2048 values of 2 pixels")) << refused.message;
}

TEST(SkyFits, NamesWhatDoesNotFit) {
  const TempFolder folder;
  const std::vector<double> value(13, 1.0);
  RawTable table = fits::TableBuilder(13).add("I", value).build();
  const auto refusal = [&] {
    fits::write_fits(folder.file("m.fits"), Overwrite::kYes,
                     [&](fits::FitsWriter& writer) { writer.table("MAP", table); });
    return thrown_by([&] { (void)read_sky(folder.file("m.fits")); }).status;
  };
  EXPECT_EQ(refusal(), Status::kMissingHdu);
  table.header.set("NSIDE", 1);
  EXPECT_EQ(refusal(), Status::kMissingKeyword);
  table.header.set("ORDERING", "SPIRAL");
  EXPECT_EQ(refusal(), kPixelisation);
  table.header.set("ORDERING", "RING");
  EXPECT_EQ(refusal(), kPixelisation);         // 13 pixels
  const std::vector<double> odd(12 * 9, 1.0);  // Nside 3
  table = fits::TableBuilder(12 * 9).add("I", odd).build();
  table.header.set("NSIDE", 3);
  table.header.set("ORDERING", "RING");
  EXPECT_EQ(refusal(), kPixelisation);
  const auto refused = thrown_by([&] { (void)read_sky(folder.file("m.fits")); });
  EXPECT_TRUE(refused.says("m.fits: Nside 3: expected a power of two")) << refused.message;
}

TEST(ScanSky, AddsWhatADetectorSees) {
  SkyMap sky{.pixels = Healpix(1), .values = std::vector<float>(36, 0.0F)};
  sky.values[3 * 7] = 1;
  sky.values[3 * 7 + 1] = 2;
  sky.values[3 * 7 + 2] = 4;
  const std::vector<Pixel> pixels{7, 0};
  const std::vector<double> q{0.5, 1}, u{-0.25, 1};
  std::vector<double> signal{100, 200};
  scan_sky(sky, pixels, q, u, signal);
  EXPECT_EQ(signal, (std::vector<double>{101, 200}));
}

}  // namespace
}  // namespace skyloom
