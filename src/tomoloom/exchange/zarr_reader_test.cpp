// SPDX-License-Identifier: BSD-3-Clause
// Volumes of our own and of others, whole and damaged.
#include "tomoloom/exchange/zarr_reader.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "loom/testing/dice.hpp"
#include "tomoloom/exchange/test_images.hpp"
#include "tomoloom/exchange/zarr_volume.hpp"

namespace tomoloom {
namespace {

namespace fs = std::filesystem;
using loom::test::Dice;
using loom::test::read_bytes;
using loom::test::replay_rounds;
using loom::test::TempFolder;
using loom::test::thrown_by;
using loom::test::with_changed_bytes;
using loom::test::write_bytes;

class ZarrReaders : public testing::Test {
 protected:
  static constexpr std::size_t kSlices = 7, kWidth = 131, kPixels = kWidth * kWidth;
  const TempFolder folder;
  const std::string path = folder.file("volume.zarr");
  std::vector<float> voxels = std::vector<float>(kSlices * kPixels);

  void SetUp() override {
    for (std::size_t i = 0; i < voxels.size(); ++i) voxels[i] = static_cast<float>(i % 9973) - 50;
  }
  void make(int packed) const {
    ZarrVolume volume(path, Overwrite::kYes, {.slices = kSlices, .width = kWidth}, {},
                      {.slices_per_block = 4, .level = packed});
    const std::span<const float> all(voxels);
    volume.write(0, all.first(4 * kPixels));
    volume.write(4, all.subspan(4 * kPixels));
    volume.commit();
  }
  static std::vector<float> read(const ZarrReader& reader, std::size_t frame, std::size_t frames,
                                 std::size_t first, std::size_t rows) {
    FrameBlock block;
    reader.frames(reader.layout().data, frame, frames, first, rows, block);
    return {block.floats.begin(), block.floats.end()};
  }
  static void text(const std::string& file, const std::string& what) {
    fs::create_directories(fs::path(file).parent_path());
    std::ofstream(file, std::ios::binary) << what;
  }
};

TEST_F(ZarrReaders, GiveWhatWasWritten) {
  for (const int packed : {0, 2}) {
    make(packed);
    const ZarrReader reader(path);
    EXPECT_EQ(reader.layout().angles, kSlices);
    EXPECT_EQ(reader.layout().rows, kWidth);
    EXPECT_EQ(reader.layout().columns, kWidth);
    EXPECT_EQ(read(reader, 0, kSlices, 0, kWidth), voxels);
    const auto from = voxels.begin() + 5 * kPixels + 127 * kWidth;
    EXPECT_EQ(read(reader, 5, 1, 127, 3), std::vector<float>(from, from + 3 * kWidth));
  }
  EXPECT_TRUE(is_zarr(path));
  EXPECT_FALSE(is_zarr(folder.path().string()));
}

TEST_F(ZarrReaders, ReadTheVolumesOfOthers) {
  // five axes, counts, the separator that Zarr 2 has by itself, chunks that are left out
  text(path + "/.zgroup", R"({"zarr_format": 2})");
  text(path + "/.zattrs", R"({"multiscales": [{"datasets": [{"path": "full/s0"}]}]})");
  text(path + "/full/s0/.zarray",
       R"({"zarr_format": 2, "shape": [1, 1, 3, 2, 3], "chunks": [1, 1, 2, 2, 2], "dtype": "<u2",)"
       R"( "compressor": null, "filters": null, "order": "C", "fill_value": 9})");
  const std::vector<std::uint8_t> chunk{1, 0, 2, 0, 3, 0, 4, 1, 5, 0, 6, 0, 7, 0, 8, 0};
  write_bytes(path + "/full/s0/0.0.0.0.0", chunk);
  const ZarrReader reader(path);
  EXPECT_EQ(read(reader, 0, 3, 0, 2),
            (std::vector<float>{1, 2, 9, 3, 260, 9, 5, 6, 9, 7, 8, 9, 9, 9, 9, 9, 9, 9}));
}

TEST_F(ZarrReaders, SayWhatTheyDoNotRead) {
  make(0);
  const std::string array = path + "/0/.zarray";
  const std::vector<std::uint8_t> bytes = read_bytes(array);
  const std::string good(bytes.begin(), bytes.end());
  const auto status_with = [&](const std::string& from, const std::string& to) {
    std::string bad = good;
    const std::size_t at = bad.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text(array, bad.replace(at, from.size(), to));
    const auto thrown = thrown_by([&] { (void)ZarrReader(path); });
    EXPECT_TRUE(thrown.says(path)) << thrown.message;
    return thrown.status;
  };
  EXPECT_EQ(status_with("<f4", ">f4"), Status::kUnsupported);
  EXPECT_EQ(status_with("\"zarr_format\": 2", "\"zarr_format\": 3"), Status::kUnsupported);
  EXPECT_EQ(status_with("\"compressor\": null", "\"compressor\": {\"id\": \"blosc\"}"),
            Status::kUnsupported);
  EXPECT_EQ(status_with("\"order\": \"C\"", "\"order\": \"F\""), Status::kUnsupported);
  EXPECT_EQ(status_with("\"shape\": [", "\"shape\": [2, "), Status::kWrongShape);
  EXPECT_EQ(status_with("131", "0"), Status::kWrongShape);
  EXPECT_EQ(status_with("131", "-1"), Status::kCorrupt);
  EXPECT_EQ(status_with("131", "1048577"), Status::kWrongShape);
  EXPECT_EQ(status_with("128", "1048576"), Status::kUnsupported);  // a chunk of half a gigavoxel
  EXPECT_EQ(status_with("{", "["), Status::kCorrupt);
  text(array, good);
  text(path + "/.zattrs", R"({"multiscales": [{"datasets": [{"path": "../other"}]}]})");
  EXPECT_EQ(thrown_by([&] { (void)ZarrReader(path); }).status, Status::kCorrupt);
  text(path + "/.zattrs", R"({"multiscales": [{"datasets": []}]})");
  EXPECT_EQ(thrown_by([&] { (void)ZarrReader(path); }).status, Status::kCorrupt);
}

TEST_F(ZarrReaders, ChunksOfAnotherSizeAreCorrupt) {
  for (const int packed : {0, 1}) {
    make(packed);
    const std::string chunk = path + "/0/1/1/0";
    const auto whole = read_bytes(chunk);
    write_bytes(chunk, std::span(whole).first(whole.size() - 1));
    const ZarrReader reader(path);
    EXPECT_EQ(read(reader, 3, 1, 0, kWidth).size(), kPixels);  // of another layer
    const auto thrown = thrown_by([&] { (void)read(reader, 4, 1, 0, kWidth); });
    EXPECT_EQ(thrown.status, Status::kCorrupt);
    EXPECT_TRUE(thrown.says("0/1/1/0")) << thrown.message;
    write_bytes(chunk, whole);
    EXPECT_EQ(read(reader, 4, 1, 0, kWidth).size(), kPixels);
  }
}

/// One or two signs of a text, which more often than not stays one that can be parsed.
std::vector<std::uint8_t> with_other_signs(std::vector<std::uint8_t> text, Dice& dice) {
  constexpr std::string_view kSigns = "0123456789-.,:[]{}\"/ ";
  for (std::size_t n = 1 + dice.below(2); n > 0; --n) {
    text[dice.below(text.size())] = static_cast<std::uint8_t>(kSigns[dice.below(kSigns.size())]);
  }
  return text;
}

TEST_F(ZarrReaders, BytesThatWereChangedGiveAVolumeOrAnError) {
  make(1);
  const std::vector<std::string> files{path + "/0/.zarray", path + "/.zattrs", path + "/0/0/0/0"};
  std::vector<std::vector<std::uint8_t>> whole;
  for (const std::string& file : files) whole.push_back(read_bytes(file));
  std::size_t volumes = 0;
  const std::size_t all = replay_rounds(200);
  for (std::size_t i = 0; i < all; ++i) {
    SCOPED_TRACE(i);
    Dice dice(i);
    const std::size_t which = i % files.size();
    write_bytes(files[which], which < 2
                                  ? with_other_signs(whole[which], dice)
                                  : with_changed_bytes(whole[which], whole[which].size(), dice));
    try {
      const ZarrReader reader(path);
      const ScanLayout& l = reader.layout();
      if (l.rows * l.columns < 4 * kPixels) {
        EXPECT_EQ(read(reader, l.angles - 1, 1, 0, l.rows).size(), l.rows * l.columns);
        EXPECT_EQ(read(reader, 0, 1, 0, l.rows).size(), l.rows * l.columns);
        ++volumes;
      }
    } catch (const Error& error) {
      EXPECT_NE(error.status(), Status::kInternal) << error.what();
      EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
    }
    write_bytes(files[which], whole[which]);
    if (HasFailure()) return;
  }
  EXPECT_GT(volumes, 0U);
  EXPECT_LT(volumes, all);
}

}  // namespace
}  // namespace tomoloom
