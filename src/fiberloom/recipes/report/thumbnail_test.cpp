// SPDX-License-Identifier: BSD-3-Clause
// Blocks, stretches, palettes and the structure of a PNG (tests/fiberloom/cli decodes one whole).
#include "fiberloom/recipes/report/thumbnail.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace fiberloom::report {
namespace {

TEST(BlockFor, IsTheSmallestThatFitsOnEachSide) {
  EXPECT_EQ(block_for(4114, 4128, 700).rows, 6u);
  EXPECT_EQ(block_for(4114, 180, 700).cols, 1u);
  EXPECT_EQ(block_for(700, 10, 700).rows, 1u);
  EXPECT_EQ(block_for(701, 10, 700).rows, 2u);
}

TEST(LitRegion, HoldsTheLightWithAMarginAndStaysOnTheCcd) {
  Array2D<float> model(20, 30, 0.0F);
  EXPECT_EQ(lit_region(model, 2).cols, 30u) << "no light: the whole";
  model(1, 10) = model(9, 12) = 5;

  const Region lit = lit_region(model, 2);

  EXPECT_EQ(lit.row, 0u);
  EXPECT_EQ(lit.rows, 12u);
  EXPECT_EQ(lit.col, 8u);
  EXPECT_EQ(lit.cols, 7u);
  EXPECT_EQ(crop(model, lit)(9, 4), 5.0F);
  EXPECT_TRUE(crop({}, lit).empty());
}

TEST(BlockMean, MayHaveBlocksThatAreNotSquare) {
  Array2D<float> image(4, 3, 1.0F);
  image(0, 2) = 5;
  const Array2D<double> blocks = block_mean(image, {}, {2, 1});
  ASSERT_EQ(blocks.rows(), 2u);
  ASSERT_EQ(blocks.cols(), 3u);
  EXPECT_EQ(blocks(0, 2), 3.0);
  EXPECT_EQ(blocks(0, 1), 1.0);
}

TEST(BlockMean, LeavesOutWhatIsNotUsed) {
  Array2D<float> image(3, 3, 2.0F), ivar(3, 3, 1.0F);
  image(0, 0) = 1e6F;
  ivar(0, 0) = 0;
  ivar(2, 2) = 0;

  const Array2D<double> blocks = block_mean(image, ivar, {2, 2});

  ASSERT_EQ(blocks.rows(), 2u);
  EXPECT_EQ(blocks(0, 0), 2.0);
  EXPECT_TRUE(std::isnan(blocks(1, 1)));  // its only pixel is masked
  EXPECT_GT(block_mean(image, {}, {2, 2})(0, 0), 1e5);
}

TEST(BlockSignificance, IsInSigmaOfTheSumOverLitPixels) {
  Array2D<float> residual(2, 2, 0.5F), model(2, 2, 1.0F), ivar(2, 2, 4.0F);
  model(1, 1) = 0;
  residual(1, 1) = 1e6F;  // beyond the wavelengths extracted

  const double value = block_significance(residual, model, ivar, {2, 2})(0, 0);

  EXPECT_NEAR(value, 3 * 0.5 / std::sqrt(3 / 4.0), 1e-12);
}

TEST(Stretch, GoesFrom0To1AndNoFurther) {
  for (const Stretch& s : {Stretch{-5, 5, 0}, Stretch{2, 900, 3}}) {
    EXPECT_EQ(s.place(s.low), 0.0);
    EXPECT_EQ(s.place(s.high), 1.0);
    EXPECT_EQ(s.place(s.low - 1e9), 0.0);
    EXPECT_EQ(s.place(s.high + 1e9), 1.0);
    EXPECT_LT(s.place(0.5 * (s.low + s.high)), 0.95);
  }
  EXPECT_EQ((Stretch{1, 1, 0}).place(7), 0.5);
}

TEST(SequentialPalette, BrightensFromOneEndToTheOther) {
  const Palette palette = sequential_palette();
  double last = -1;
  for (int i = 0; i < kNothing; ++i) {
    const Rgb c = palette[static_cast<std::size_t>(i)];
    const double light = 0.2126 * c.red + 0.7152 * c.green + 0.0722 * c.blue;
    EXPECT_GE(light, last - 1) << i;
    last = light;
  }
  EXPECT_EQ(palette_stops(palette, 32).size(), 32u);
  EXPECT_EQ(palette_stops(palette, 3).front(), "#0a0c28");
}

TEST(EncodePng, HasItsChunksInOrder) {
  const Array2D<std::uint8_t> pixels(7, 5, 3);
  const auto png = encode_png(pixels, sequential_palette());
  const auto number = [&](std::size_t at) {
    return (static_cast<std::size_t>(png[at]) << 24) |
           (static_cast<std::size_t>(png[at + 1]) << 16) |
           (static_cast<std::size_t>(png[at + 2]) << 8) | png[at + 3];
  };
  std::string order;
  std::size_t at = 8;
  while (at + 12 <= png.size()) {
    order.append(png.begin() + static_cast<std::ptrdiff_t>(at) + 4,
                 png.begin() + static_cast<std::ptrdiff_t>(at) + 8);
    at += 12 + number(at);
  }
  EXPECT_EQ(at, png.size());
  EXPECT_EQ(order, "IHDRPLTEtRNSIDATIEND");
  EXPECT_EQ(number(16), 5u);  // width
  EXPECT_EQ(number(20), 7u);
  EXPECT_EQ(number(png.size() - 4), 0xae426082u);  // the CRC that every PNG ends with
}

}  // namespace
}  // namespace fiberloom::report
