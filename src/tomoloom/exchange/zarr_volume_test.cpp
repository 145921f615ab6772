// SPDX-License-Identifier: BSD-3-Clause
// Chunks are read by what the format says, without a library for it.
#include "tomoloom/exchange/zarr_volume.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "loom/files/gzip.hpp"
#include "loom/json/json.hpp"
#include "tomoloom/exchange/test_images.hpp"

namespace tomoloom {
namespace {

namespace fs = std::filesystem;
using loom::test::TempFolder;
using loom::test::thrown_by;

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class ZarrVolumes : public testing::Test {
 protected:
  static constexpr std::size_t kWide = 131, kSlice = kWide * kWide;
  const TempFolder folder;
  const std::string path = folder.file("volume.zarr");
  const std::vector<VolumeNote> notes{{"method", "exact"}, {"axis", "1.5"}};
  const VolumeShape shape{.slices = 7, .width = kWide, .first_row = 40, .row_step = 2};
  std::vector<float> voxels = std::vector<float>(7 * kSlice);

  void SetUp() override {
    for (std::size_t i = 0; i < voxels.size(); ++i) voxels[i] = static_cast<float>(i % 9973) + 1;
  }
  std::span<const float> slices(std::size_t first, std::size_t count) const {
    return std::span<const float>(voxels).subspan(first * kSlice, count * kSlice);
  }
  void make(const ZarrVolume::Chunks& chunks) {
    ZarrVolume volume(path, Overwrite::kYes, shape, notes, chunks);
    volume.write(4, slices(4, 3));
    volume.write(0, slices(0, 4));
    volume.commit();
  }
  float voxel(std::size_t level, std::size_t depth, int packed, std::size_t z, std::size_t y,
              std::size_t x) const {
    constexpr std::size_t wide = ZarrVolume::kChunkWide;
    const std::string chunk =
        text_of(path + "/" + std::to_string(level) + "/" + std::to_string(z / depth) + "/" +
                std::to_string(y / wide) + "/" + std::to_string(x / wide));
    std::vector<float> numbers(depth * wide * wide);
    const std::span<std::uint8_t> out(reinterpret_cast<std::uint8_t*>(numbers.data()),
                                      numbers.size() * sizeof(float));
    if (packed > 0) {
      unzlib({reinterpret_cast<const std::uint8_t*>(chunk.data()), chunk.size()}, out, "chunk");
    } else {
      EXPECT_EQ(chunk.size(), out.size());
      std::memcpy(out.data(), chunk.data(), std::min(chunk.size(), out.size()));
    }
    return numbers[(z % depth * wide + y % wide) * wide + x % wide];
  }
};

TEST_F(ZarrVolumes, ChunksHoldTheVolumeAndHalvesOfIt) {
  for (const int packed : {0, 1}) {
    make({.slices_per_block = 4, .level = packed});
    for (const auto& [z, y, x] :
         {std::array<std::size_t, 3>{0, 0, 0}, {3, 130, 127}, {6, 128, 130}, {5, 17, 99}}) {
      EXPECT_EQ(voxel(0, 4, packed, z, y, x), voxels[z * kSlice + y * kWide + x]);
    }
    double sum = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      sum +=
          static_cast<double>(voxels[(4 + i / 4) * kSlice + (8 + i / 2 % 2) * kWide + 6 + i % 2]);
    }
    EXPECT_EQ(voxel(1, 2, packed, 2, 4, 3), static_cast<float>(sum / 8));
    // the last voxel has one slice, one row and one column below it
    EXPECT_EQ(voxel(1, 2, packed, 3, 65, 65), voxels[6 * kSlice + 130 * kWide + 130]);
    EXPECT_EQ(folder.count(), 1U);
    std::size_t found = 0;
    for (const std::string& name : ZarrVolume::files(shape, {.slices_per_block = 4})) {
      found += fs::is_regular_file(path + "/" + name) ? 1 : 0;
    }
    EXPECT_EQ(found, 2U + 2U + 2U * 4U + 2U);
    EXPECT_EQ(ZarrVolume::files(shape, {.slices_per_block = 4}).size(), found);
  }
}

TEST_F(ZarrVolumes, AttributesSayWhereVoxelsAre) {
  make({.slices_per_block = 4, .level = 3});
  const auto array = Json::parse(text_of(path + "/1/.zarray"));
  ASSERT_TRUE(array);
  EXPECT_EQ(array->at("shape").dump(), "[4,66,66]");
  EXPECT_EQ(array->at("chunks").dump(), "[2,128,128]");
  EXPECT_EQ(array->at("compressor").dump(), R"({"id":"zlib","level":3})");
  const auto group = Json::parse(text_of(path + "/.zattrs"));
  ASSERT_TRUE(group);
  const Json& whole = group->at("multiscales").elements().at(0);
  EXPECT_EQ(whole.at("version").get<std::string>(), "0.4");
  const Json& second = whole.at("datasets").elements().at(1);
  EXPECT_EQ(second.at("path").get<std::string>(), "1");
  const auto& where = second.at("coordinateTransformations").elements();
  EXPECT_EQ(where.at(0).at("scale").dump(), "[4.0,4.0,4.0]");
  EXPECT_EQ(where.at(1).at("translation").dump(), "[41.5,1.5,1.5]");
  EXPECT_EQ(group->at("tomoloom").at("axis").get<std::string>(), "1.5");
  const auto facts = ZarrVolume::describe(path);
  EXPECT_EQ(facts.at(0).value, "2");  // levels
  EXPECT_TRUE(ZarrVolume::describe(folder.path().string()).empty());
}

TEST_F(ZarrVolumes, WhatIsNotWholeLooksLikeNothingAndIsGoneOnWith) {
  const ZarrVolume::Chunks chunks{.slices_per_block = 4};
  {
    ZarrVolume volume(path, Overwrite::kYes, shape, notes, chunks, "this");
    volume.write(0, slices(0, 4));
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_FALSE(fs::exists(path + ".part/.zgroup"));
  EXPECT_FALSE(fs::exists(path + ".part/0/.zarray"));
  {
    ZarrVolume volume(path, Overwrite::kYes, shape, notes, chunks, "this");
    EXPECT_TRUE(volume.done(0, 4));
    EXPECT_FALSE(volume.done(4, 3));
    volume.write(4, slices(4, 3));
    volume.commit();
  }
  EXPECT_EQ(voxel(0, 4, 0, 2, 3, 4), voxels[2 * kSlice + 3 * kWide + 4]);
  EXPECT_EQ(folder.count(), 1U);
}

TEST_F(ZarrVolumes, AFolderWithAnythingElseInItIsLeft) {
  make({.slices_per_block = 4});
  make({.slices_per_block = 4, .level = 1});  // replaced as a whole
  std::ofstream(path + "/0/notes.txt") << "mine";
  const auto thrown = thrown_by([&] { make({.slices_per_block = 4}); });
  EXPECT_EQ(thrown.status, Status::kOutputExists);
  EXPECT_TRUE(thrown.says("holds 0/notes.txt")) << thrown.message;
  EXPECT_TRUE(fs::exists(path + "/.zgroup"));
  fs::remove(path + "/0/notes.txt");
  {
    ZarrVolume volume(path, Overwrite::kYes, shape, notes, {.slices_per_block = 4});
    volume.write(0, slices(0, 4));
  }
  EXPECT_EQ(folder.count(), 1U);
  EXPECT_TRUE(fs::exists(path + "/.zgroup"));
}

}  // namespace
}  // namespace tomoloom
