// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/exchange/scan_window.hpp"

#include <gtest/gtest.h>

#include "loom/testing/test_files.hpp"
#include "tomoloom/status.hpp"

namespace tomoloom {
namespace {

using loom::test::thrown_by;

/// 5 projections of 4 x 6 counts: 100 frame + 10 row + column.
class Numbered final : public FrameSource {
 public:
  Numbered() {
    layout_.path = "numbered";
    layout_.data = "data";
    layout_.white = "white";
    layout_.angles = 5;
    layout_.rows = 4;
    layout_.columns = 6;
    layout_.flats = 2;
    layout_.theta_deg = {0, 30, 60, 90, 120};
    layout_.counts = true;
  }
  void frames(const std::string& name, std::size_t frame, std::size_t frames, std::size_t first,
              std::size_t rows, FrameBlock& out) const override {
    out.counts.clear();
    for (std::size_t f = frame; f < frame + frames; ++f) {
      for (std::size_t r = first; r < first + rows; ++r) {
        for (std::size_t c = 0; c < 6; ++c) {
          out.counts.push_back(
              static_cast<std::uint16_t>((name == "white" ? 1000 : 0) + 100 * f + 10 * r + c));
        }
      }
    }
  }
  [[nodiscard]] std::vector<std::size_t> chunk(const std::string& /*name*/) const override {
    return {2, 2, 6};
  }
  [[nodiscard]] std::string identity() const override { return "numbered"; }
};

TEST(ScanWindow, LeavesOutColumnsAndProjections) {
  const ScanWindow window(std::make_unique<Numbered>(),
                          {.first_column = 1, .end_column = 4, .skipped = {{1, 2}, {3, 4}}});
  EXPECT_EQ(window.layout().angles, 3U);
  EXPECT_EQ(window.layout().columns, 3U);
  EXPECT_EQ(window.layout().theta_deg, (std::vector<double>{0, 60, 120}));
  FrameBlock block;
  window.frames("data", 0, 3, 2, 1, block);
  EXPECT_EQ(block.counts, (LargeVector<std::uint16_t>{21, 22, 23, 221, 222, 223, 421, 422, 423}));
  window.frames("white", 1, 1, 0, 1, block);
  EXPECT_EQ(block.counts, (LargeVector<std::uint16_t>{1101, 1102, 1103}));
}

TEST(ScanWindow, WeightsOfAFilterGoWithTheirProjections) {
  const auto left = [](std::vector<double> weights, bool each) {
    auto scan = std::make_unique<Numbered>();
    scan->give_filter(std::move(weights), each);
    return ScanWindow(std::move(scan), {.skipped = {{1, 2}, {3, 4}}}).layout().filter;
  };
  EXPECT_EQ(left({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, true), (std::vector<double>{1, 2, 5, 6, 9, 10}));
  EXPECT_EQ(left({1, 2, 3, 4}, false), (std::vector<double>{1, 2, 3, 4}));
  Numbered scan;
  EXPECT_EQ(thrown_by([&] { scan.give_filter({1, 2, 3, 4}, true); }).status, kScanMismatch);
  EXPECT_EQ(thrown_by([&] { scan.give_filter({}, false); }).status, kScanMismatch);
}

TEST(ScanWindow, AveragesPixels) {
  const ScanWindow window(std::make_unique<Numbered>(), {.first_column = 1, .bin = 2});
  EXPECT_FALSE(window.layout().counts);
  EXPECT_EQ(window.layout().columns, 2U);
  EXPECT_EQ(window.layout().rows, 2U);
  EXPECT_EQ(window.chunk("data"), (std::vector<std::size_t>{2, 1, 2}));
  FrameBlock block;
  window.frames("data", 3, 1, 1, 1, block);
  EXPECT_EQ(block.floats, (LargeVector<float>{326.5F, 328.5F}));
  EXPECT_EQ(window.layout().theta_deg.size(), 5U);
}

TEST(ScanWindow, ColumnsOfTheDetectorAndOfTheWindowAreEachOthers) {
  const WindowChoice choice{.first_column = 10, .bin = 4};
  EXPECT_DOUBLE_EQ(choice.to_window(11.5), 0);  // the middle of its first pixel
  EXPECT_DOUBLE_EQ(choice.to_detector(choice.to_window(513.25)), 513.25);
}

TEST(ScanWindow, RefusesWhatTheScanDoesNotHave) {
  for (const WindowChoice& choice :
       {WindowChoice{.end_column = 7}, WindowChoice{.first_column = 6}, WindowChoice{.bin = 5},
        WindowChoice{.skipped = {{4, 6}}}, WindowChoice{.skipped = {{0, 5}}}}) {
    EXPECT_EQ(
        thrown_by([&] { const ScanWindow window(std::make_unique<Numbered>(), choice); }).status,
        kSliceRange);
  }
}

TEST(FrameSource, EachProjectionHasTheNearestSetOfFlats) {
  Numbered scan;
  scan.give_flat_places({0, 5});
  EXPECT_EQ(scan.layout().flat_set, (std::vector<std::uint32_t>{0, 0, 1, 1, 1}));
  EXPECT_EQ(thrown_by([&] { scan.give_flat_places({3, 1}); }).status, kScanMismatch);
  EXPECT_EQ(thrown_by([&] { scan.give_flat_places({0, 1, 2}); }).status, kScanMismatch);
}

}  // namespace
}  // namespace tomoloom
