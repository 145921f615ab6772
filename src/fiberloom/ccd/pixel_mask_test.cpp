// SPDX-License-Identifier: BSD-3-Clause
// Every reason for which a pixel is dropped, in both types, wherever it lies in a block. Frames of
// real size and the wild pixels' bounds are tested in
// tests/fiberloom/property/containment_test.cpp.
#include "fiberloom/ccd/pixel_mask.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"

namespace fiberloom {
namespace {

constexpr std::size_t kRows = 7, kColumns = 23;  // no multiple of a block

template <class Real>
CcdFrame flat_frame() {
  return {PixelArray(Array2D<Real>(kRows, kColumns, Real{10})),
          PixelArray(Array2D<Real>(kRows, kColumns, static_cast<Real>(0.25)))};
}

template <class T>
class ApplyMask : public testing::Test {
 protected:
  CcdFrame ccd_ = flat_frame<T>();
  Array2D<T>& image_ = std::get<Array2D<T>>(ccd_.image.data());
  Array2D<T>& ivar_ = std::get<Array2D<T>>(ccd_.ivar.data());
};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(ApplyMask, Reals);

TYPED_TEST(ApplyMask, CountsAPixelOnceUnderTheFirstReasonThatHolds) {
  using T = TypeParam;
  Array2D<std::uint32_t> mask(kRows, kColumns, 0U);
  const T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  mask(0, 0) = 1, this->ivar_(0, 0) = nan;          // masked, whatever it holds
  this->ivar_(1, 5) = 0, this->image_(1, 5) = nan;  // no weight: its value does not matter
  this->ivar_(2, 0) = nan;
  this->ivar_(2, 1) = inf;
  this->ivar_(3, 22) = -1;
  this->image_(4, 4) = nan;
  this->image_(4, 5) = -inf;
  this->ivar_(5, 1) = static_cast<T>(1e10);
  this->image_(6, 22) = static_cast<T>(1e14);  // the last one
  const MaskCounts c = apply_mask(this->ccd_, mask);
  EXPECT_EQ(c.pixels, kRows * kColumns);
  EXPECT_EQ(c.by_mask, 1U);
  EXPECT_EQ(c.zero_ivar, 1U);
  EXPECT_EQ(c.nan_ivar, 2U);
  EXPECT_EQ(c.negative_ivar, 1U);
  EXPECT_EQ(c.nan_image, 2U);
  EXPECT_EQ(c.wild_ivar, 1U);
  EXPECT_EQ(c.wild_image, 1U);
  EXPECT_EQ(c.bad(), 9U);
  EXPECT_EQ(c.median_ivar, 0.25);
  ASSERT_EQ(c.wild.size(), 2U);
  EXPECT_TRUE(c.wild[0].in_ivar);
  EXPECT_EQ(c.wild[1].row, 6U);
  EXPECT_EQ(c.wild[1].column, 22U);
  std::size_t used = 0;
  for (std::size_t i = 0; i < this->ivar_.size(); ++i) {
    const T w = this->ivar_.data()[i], p = this->image_.data()[i];
    EXPECT_TRUE((w == 0 && p == 0) || (w == T(0.25) && p == 10)) << i;
    used += w > 0;
  }
  EXPECT_EQ(used, kRows * kColumns - 9);
}

TYPED_TEST(ApplyMask, FindsASingleBadPixelWhereverItLies) {
  for (std::size_t i = 0; i < kRows * kColumns; ++i) {
    CcdFrame ccd = flat_frame<TypeParam>();
    std::get<Array2D<TypeParam>>(ccd.image.data()).data()[i] =
        std::numeric_limits<TypeParam>::quiet_NaN();
    EXPECT_EQ(apply_mask(ccd, {}).nan_image, 1U) << i;
    EXPECT_EQ(ccd.ivar.at(i / kColumns, i % kColumns), 0.0) << i;
  }
}

TYPED_TEST(ApplyMask, LooksAtTheBitsThatItIsToldTo) {
  Array2D<std::uint32_t> mask(kRows, kColumns, 0U);
  mask(0, 0) = 1;
  mask(0, 1) = 256;  // BADREADNOISE
  mask(0, 2) = 1024;
  CcdFrame all = this->ccd_, none = this->ccd_;
  EXPECT_EQ(apply_mask(this->ccd_, mask).by_mask, 1U)
      << "all of the first ten bits but BADREADNOISE";
  EXPECT_EQ(apply_mask(all, mask, ~0U).by_mask, 3U);
  EXPECT_EQ(apply_mask(none, mask, 0U).by_mask, 0U);
}

TYPED_TEST(ApplyMask, TwiceDropsNothingMore) {
  this->ivar_(2, 2) = -1;
  (void)apply_mask(this->ccd_, {});
  const MaskCounts again = apply_mask(this->ccd_, {});
  EXPECT_EQ(again.bad(), 1U);
  EXPECT_EQ(again.zero_ivar, 1U);
}

TEST(ApplyMaskShapes, ThatDisagreeAreNamed) {
  const auto message = [](CcdFrame ccd, const Array2D<std::uint32_t>& mask) -> std::string {
    try {
      (void)apply_mask(ccd, mask);
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), kSizeMismatch);
      return e.what();
    }
    return "no error";
  };
  CcdFrame odd = flat_frame<float>();
  odd.ivar = PixelArray(Array2D<double>(kRows, kColumns + 1, 1.0));
  EXPECT_EQ(message(odd, {}), "IVAR is 24 x 7 pixels, IMAGE is 23 x 7");
  EXPECT_EQ(message(flat_frame<float>(), Array2D<std::uint32_t>(kColumns, kRows, 0U)),
            "MASK is 7 x 23 pixels, IMAGE is 23 x 7");
}

TEST(WildPixelsText, NamesAFewAndCountsTheRest) {
  MaskCounts c;
  EXPECT_EQ(wild_pixels_text(c), "");
  CcdFrame ccd = flat_frame<double>();
  for (std::size_t i = 0; i < 5; ++i) std::get<Array2D<double>>(ccd.image.data())(i, i) = 1e20;
  c = apply_mask(ccd, {});
  EXPECT_EQ(c.wild.size(), 3U);
  const std::string text = wild_pixels_text(c);
  EXPECT_NE(text.find("5 pixels with a wild value"), std::string::npos) << text;
  EXPECT_NE(text.find("IMAGE[2,2] is 1e+20 with ivar 0.25 and 2 more"), std::string::npos) << text;
}

}  // namespace
}  // namespace fiberloom
