// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/frame_steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "fiberloom/simulate/small_frame.hpp"
#include "loom/base/error.hpp"

namespace fiberloom {
namespace {

class FrameSteps : public testing::Test {
 protected:
  FrameSteps() {
    SmallFrameOptions small;
    small.nfiber = 20;
    small.nwave = 60;
    SmallFrame made = make_small_frame(small, executor_);
    FrameInputs in;
    in.preproc.ccd = {PixelArray(made.image), PixelArray(made.ivar)};
    PsfFile psf;
    psf.model = made.psf;
    in.psf = std::make_shared<const PsfFile>(std::move(psf));
    job_.wave = {made.wave.front(), made.wave.back(), small.step_aa};
    job_.options.bundle_size = 5;
    frame_ = prepare_frame(job_, std::move(in), {});
  }
  [[nodiscard]] ExtractResult whole() {
    return compute_frame(job_, frame_, Engine(), executor_, {}, nullptr);
  }
  [[nodiscard]] ExtractResult part(std::size_t first, std::size_t last) {
    return compute_bundles(job_, frame_, first, last, Engine(), executor_, {}, nullptr);
  }

  SerialExecutor executor_;
  ExtractJob job_;
  PreparedFrame frame_;
};

template <class A>
bool same(const A& a, const A& b) {
  return a.size() == b.size() && std::equal(a.data(), a.data() + a.size(), b.data());
}

TEST_F(FrameSteps, PartsJoinedInAnyOrderAreTheWholeFrameToTheBit) {
  const ExtractResult expected = whole();
  ASSERT_EQ(count_bundles(frame_), 4U);
  std::vector<ExtractResult> parts;
  parts.push_back(part(3, 4));
  parts.push_back(part(0, 1));
  parts.push_back(part(1, 3));

  const ExtractResult joined = join_parts(job_, std::move(parts), frame_);

  EXPECT_TRUE(same(joined.flux, expected.flux));
  EXPECT_TRUE(same(joined.ivar, expected.ivar));
  EXPECT_TRUE(same(joined.mask, expected.mask));
  EXPECT_TRUE(same(joined.chi2pix, expected.chi2pix));
  EXPECT_TRUE(same(joined.resolution, expected.resolution));
  EXPECT_EQ(joined.bundles.size(), expected.bundles.size());
}

TEST_F(FrameSteps, PartsOfARangeThatCutsBundlesJoinToo) {
  frame_.options.spec_min = 3;
  frame_.options.nspec = 9;  // fibres 3-11: bundles 0, 1 and 2 in part
  const ExtractResult expected = whole();
  ASSERT_EQ(count_bundles(frame_), 3U);
  std::vector<ExtractResult> parts;
  for (std::size_t b = 0; b < 3; ++b) parts.push_back(part(b, b + 1));

  const ExtractResult joined = join_parts(job_, std::move(parts), frame_);

  EXPECT_EQ(joined.spec_min, 3);
  EXPECT_TRUE(same(joined.flux, expected.flux));
  EXPECT_TRUE(same(joined.mask, expected.mask));
}

TEST_F(FrameSteps, AnEngineOfAnotherMethodIsRefusedBeforeTheHeaderNamesTheWrongOne) {
  EXPECT_THROW((void)compute_frame(job_, frame_, Engine(Method::kPatch), executor_, {}, nullptr),
               Error);
}

TEST_F(FrameSteps, AGapBetweenPartsIsAnError) {
  std::vector<ExtractResult> parts;
  parts.push_back(part(0, 1));
  parts.push_back(part(2, 4));
  EXPECT_THROW((void)join_parts(job_, std::move(parts), frame_), Error);
  EXPECT_THROW((void)join_parts(job_, {}, frame_), Error);
  EXPECT_THROW((void)part(3, 5), Error);
}

TEST_F(FrameSteps, PartsWithoutTheFirstOrTheLastFibresAreNoFrame) {
  std::vector<ExtractResult> first_missing, last_missing;
  first_missing.push_back(part(1, 4));
  last_missing.push_back(part(0, 2));
  last_missing.push_back(part(2, 3));
  EXPECT_THROW((void)join_parts(job_, std::move(first_missing), frame_), Error);
  EXPECT_THROW((void)join_parts(job_, std::move(last_missing), frame_), Error);
}

}  // namespace
}  // namespace fiberloom
