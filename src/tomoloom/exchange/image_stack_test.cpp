// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/exchange/image_stack.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "tomoloom/exchange/test_images.hpp"
#include "tomoloom/status.hpp"

namespace tomoloom {
namespace {

using loom::test::TempFolder;
using loom::test::thrown_by;
using test::write_image;
using Counts = std::vector<std::uint16_t>;

class Stacks : public testing::Test {
 protected:
  /// Images 0 ... count - 1 of 3 rows x 2 columns, value 100 image + 10 row + column.
  template <class Number>
  std::string stack(const char* name, std::size_t count, std::size_t rows = 3) const {
    const std::string path = folder.file(name);
    std::filesystem::create_directory(path);
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<Number> pixels;
      for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t c = 0; c < 2; ++c)
          pixels.push_back(static_cast<Number>(100 * i + 10 * r + c));
      }
      write_image<Number>(path + "/p_" + std::to_string(i) + ".tif", 2, pixels);
    }
    return path;
  }
  const TempFolder folder;
};

TEST_F(Stacks, ProjectionsAreInTheOrderOfTheirNumbers) {
  const StackReader scan({.data = stack<std::uint16_t>("data", 12),
                          .flats = stack<std::uint16_t>("flats", 2),
                          .darks = {}});
  const ScanLayout& layout = scan.layout();
  EXPECT_EQ(layout.angles, 12U);
  EXPECT_EQ(layout.rows, 3U);
  EXPECT_EQ(layout.columns, 2U);
  EXPECT_EQ(layout.flats, 2U);
  EXPECT_EQ(layout.darks, 0U);
  EXPECT_TRUE(layout.counts);
  EXPECT_EQ(layout.type, "uint16");
  EXPECT_EQ(layout.theta_deg.back(), 180);
  EXPECT_TRUE(scan.chunk(layout.data).empty());
  FrameBlock block;
  scan.frames(layout.data, 9, 2, 1, 2, block);  // names: 1, 10, 11, 2 ... if they were texts
  EXPECT_EQ(block.counts, (LargeVector<std::uint16_t>{910, 911, 920, 921, 1010, 1011, 1020, 1021}));
  scan.frames(layout.white, 0, 2, 2, 1, block);
  EXPECT_EQ(block.counts, (LargeVector<std::uint16_t>{20, 21, 120, 121}));
}

TEST_F(Stacks, SinogramsAreTurnedIntoFrames) {
  const StackReader scan(
      {.data = stack<float>("data", 4), .flats = {}, .darks = {}, .kind = StackKind::kSinograms});
  EXPECT_EQ(scan.layout().angles, 3U);
  EXPECT_EQ(scan.layout().rows, 4U);
  EXPECT_FALSE(scan.layout().counts);
  FrameBlock block;
  scan.frames(scan.layout().data, 1, 2, 2, 2, block);  // angles 1, 2 of rows 2, 3
  EXPECT_EQ(block.floats, (LargeVector<float>{210, 211, 310, 311, 220, 221, 320, 321}));
}

TEST_F(Stacks, CountsBesideFractionsAreReadAsFractions) {
  const StackReader scan(
      {.data = stack<std::uint16_t>("data", 2), .flats = stack<float>("flats", 1), .darks = {}});
  EXPECT_FALSE(scan.layout().counts);
  FrameBlock block;
  scan.frames(scan.layout().data, 1, 1, 0, 1, block);
  EXPECT_EQ(block.floats, (LargeVector<float>{100, 101}));
}

TEST_F(Stacks, WhatDoesNotFitIsOneLineAndACode) {
  const std::string data = stack<std::uint16_t>("data", 2);
  const auto open = [&](const StackFiles& files) {
    return thrown_by([&] { StackReader reader(files); });
  };
  EXPECT_EQ(open({.data = folder.file("absent.tif"), .flats = {}, .darks = {}}).status,
            Status::kNotFound);
  std::filesystem::create_directory(folder.file("empty"));
  EXPECT_TRUE(open({.data = folder.file("empty"), .flats = {}, .darks = {}}).says("no images"));
  const auto flats = open({.data = data, .flats = stack<std::uint16_t>("f", 1, 4), .darks = {}});
  EXPECT_EQ(flats.status, kScanMismatch);
  EXPECT_TRUE(flats.says("found 4 x 2, expected frames of 3 x 2")) << flats.message;
  write_image<float>(data + "/p_7.tif", 2, std::vector<float>(6, 1));
  const auto mixed = open({.data = data, .flats = {}, .darks = {}});
  EXPECT_EQ(mixed.status, Status::kWrongShape);
  EXPECT_TRUE(mixed.says("p_7.tif")) << mixed.message;
}

TEST_F(Stacks, AStackThatChangedIsAnotherOne) {
  const std::string data = stack<float>("data", 2);
  const auto identity = [&] {
    return StackReader({.data = data, .flats = {}, .darks = {}}).identity();
  };
  const std::string before = identity();
  EXPECT_EQ(identity(), before);
  std::filesystem::last_write_time(data + "/p_1.tif", std::filesystem::file_time_type{});
  EXPECT_NE(identity(), before);
}

TEST_F(Stacks, FoldersAndImagesAreStacksAndOthersAreNot) {
  EXPECT_TRUE(is_stack(folder.path().string()));
  EXPECT_TRUE(is_stack("scan.TIF"));
  EXPECT_TRUE(is_stack("a/scan.tiff"));
  EXPECT_FALSE(is_stack("scan.h5"));
}

}  // namespace
}  // namespace tomoloom
