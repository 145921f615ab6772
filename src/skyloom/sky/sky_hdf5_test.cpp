// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include "loom/hdf5/hdf5.hpp"
#include "loom/testing/test_files.hpp"
#include "skyloom/sky/map_file.hpp"
#include "skyloom/status.hpp"

namespace skyloom {
namespace {

using loom::test::read_bytes;
using loom::test::TempFolder;
using loom::test::thrown_by;

void some_values(Pixel pixel, double* out) {
  out[0] = 1 + pixel;
  out[1] = -pixel;
  out[2] = 0.5 * pixel;
}

TEST(SkyHdf5, GivesBackWhatWasWritten) {
  const TempFolder folder;
  for (const std::int64_t nside : {4, 32}) {
    const Healpix pixels(nside);
    for (const Ordering ordering : {Ordering::kNested, Ordering::kRing}) {
      for (const MapType type : {MapType::kFloat32, MapType::kFloat64, MapType::kInt32}) {
        const std::string path = folder.file("m.h5");
        write_map(path, Overwrite::kYes, pixels,
                  {.columns = {"I", "Q", "HALF"},
                   .unit = "K",
                   .type = type,
                   .ordering = ordering,
                   .frame = "G",
                   .empty = 0},
                  some_values);
        const MapTable table(path);
        EXPECT_EQ(table.names(), (std::vector<std::string>{"I", "Q", "HALF"}));
        EXPECT_EQ(table.unit(), "K");
        EXPECT_EQ(table.frame(), "G");
        ASSERT_EQ(table.pixels().nside(), nside);
        const auto first = table.column(0), third = table.column(2);
        for (std::size_t p = 0; p < first.size(); ++p) {
          EXPECT_EQ(first[p], static_cast<double>(p + 1));
          const double half = 0.5 * static_cast<double>(p);
          EXPECT_EQ(third[p], type == MapType::kInt32 ? std::trunc(half) : half);
        }
        EXPECT_TRUE(is_hdf5_map(path));
      }
    }
  }
}

TEST(SkyHdf5, HasNoRoomForWhatWasNotHitAndIsThePeersLayout) {
  const TempFolder folder;
  const Healpix pixels(256);
  const std::vector<Pixel> hit{70, 71, 400000};
  for (const Ordering ordering : {Ordering::kNested, Ordering::kRing}) {
    const std::string path = folder.file("part.h5"), whole = folder.file("whole.h5");
    MapFile file{.columns = {"I", "Q", "U"}, .unit = "K", .ordering = ordering, .part = &hit};
    write_map(path, Overwrite::kYes, pixels, file, some_values);
    EXPECT_LT(std::filesystem::file_size(path), 4U * 3 * 3072 * 4);
    {
      const hdf5::Reader read(path);
      EXPECT_EQ(read.extent("map"), (std::vector<std::size_t>{3, 786432}));
      EXPECT_EQ(read.chunk("map"), (std::vector<std::size_t>{3, 3072}));
      EXPECT_EQ(read.description("map", "ORDERING"),
                ordering == Ordering::kRing ? "RING" : "NESTED");
      EXPECT_EQ(read.description("map", "UNITS"), "K");
      EXPECT_EQ(read.number("map", "NSIDE"), 256);
    }
    const std::vector<double> q = MapTable(path).column(1);
    std::size_t seen = 0;
    for (const double value : q) seen += std::isnan(value) ? 0 : 1;
    EXPECT_EQ(seen, 3U);
    EXPECT_EQ(q[71], -71);
    EXPECT_EQ(q[400000], -400000);
    // the same bytes where all pixels are asked for
    file.part = nullptr;
    write_map(whole, Overwrite::kYes, pixels, file, [&](Pixel p, double* out) {
      std::fill(out, out + 3, kUnseen);
      if (std::find(hit.begin(), hit.end(), p) != hit.end()) some_values(p, out);
    });
    EXPECT_EQ(read_bytes(path), read_bytes(whole));
  }
}

/// What the peer's write_healpix leaves: no names of columns, no fill value.
TEST(SkyHdf5, ReadsFilesOfThePeers) {
  const TempFolder folder;
  const std::string path = folder.file("m.h5");
  const auto write = [&](const char* ordering, std::int64_t nside, std::size_t columns) {
    hdf5::Writer to(path, Overwrite::kYes);
    to.create("map", hdf5::Type::kFloat64, {columns, 192});
    std::vector<double> values(columns * 192);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
    to.write("map", 0, std::span<const double>(values));
    if (*ordering != 0) to.describe("map", "ORDERING", ordering, hdf5::TextKind::kVariable);
    to.describe("map", "NSIDE", nside);
    to.commit();
  };
  write("RING", 4, 3);
  const MapTable table(path);
  EXPECT_EQ(table.names(), (std::vector<std::string>{"I_STOKES", "Q_STOKES", "U_STOKES"}));
  const std::vector<double> u = table.column(2);
  for (Pixel p = 0; p < 192; ++p) {
    EXPECT_EQ(u[static_cast<std::size_t>(p)], 2 * 192 + static_cast<double>(Healpix(4).to_ring(p)));
  }
  EXPECT_EQ(read_sky(path).values[1], static_cast<float>(192 + Healpix(4).to_ring(0)));
  write("RING", 8, 3);
  EXPECT_EQ(thrown_by([&] { MapTable again(path); }).status, kPixelisation);
  write("SPIRAL", 4, 3);
  EXPECT_EQ(thrown_by([&] { MapTable again(path); }).status, kPixelisation);
  write("", 4, 3);
  EXPECT_EQ(thrown_by([&] { MapTable again(path); }).status, Status::kMissingKeyword);
  write("RING", 4, 2);
  EXPECT_EQ(thrown_by([&] { (void)read_sky(path); }).status, Status::kWrongShape);
  {
    hdf5::Writer to(path, Overwrite::kYes);
    to.create("mop", hdf5::Type::kFloat64, {1, 192});
    to.commit();
  }
  EXPECT_EQ(thrown_by([&] { MapTable again(path); }).status, Status::kMissingHdu);
  EXPECT_FALSE(is_hdf5_map(path));
}

}  // namespace
}  // namespace skyloom
