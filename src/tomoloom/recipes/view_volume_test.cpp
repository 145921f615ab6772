// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/view_volume.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tomoloom/recipes/compare_volumes.hpp"
#include "tomoloom/recipes/test_recon.hpp"
#include "tomoloom/status.hpp"

namespace tomoloom {
namespace {

using loom::test::thrown_by;

class Volumes : public testing::Test {
 protected:
  void SetUp() override {
    if (!hdf5::available()) GTEST_SKIP() << "built without HDF5";
  }
  /// Slices of 8 x 10 whose values are their numbers, one of them changed.
  std::string write(const char* name, std::size_t at, float change, std::size_t slices = 5) const {
    std::vector<float> values(slices * 80);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 100;
    values[at] += change;
    hdf5::Writer writer(folder.file(name), Overwrite::kYes);
    writer.create("exchange/data", hdf5::Type::kFloat32, {slices, 8, 10});
    writer.write("exchange/data", 0, std::span<const float>(values));
    writer.commit();
    return folder.file(name);
  }
  VolumeDifference apart(const std::string& a, const std::string& b, double circle) const {
    return compare_volumes(*open_slices(a, "exchange"), *open_slices(b, "exchange"), circle, {});
  }
  const loom::test::TempFolder folder;
};

TEST_F(Volumes, AreComparedNumberByNumber) {
  const std::string a = write("a.h5", 0, 0), b = write("b.h5", 2 * 80 + 3 * 10 + 4, -0.5F);
  const VolumeDifference same = apart(a, a, 0);
  EXPECT_EQ(same.rms, 0);
  EXPECT_EQ(same.count, 400U);
  EXPECT_NEAR(same.correlation, 1, 1e-12);
  EXPECT_NEAR(same.gain, 1, 1e-12);
  const VolumeDifference one = apart(a, b, 0);
  EXPECT_NEAR(one.largest, 0.5, 1e-6);
  EXPECT_EQ(one.slice, 2U);
  EXPECT_EQ(one.row, 3U);
  EXPECT_EQ(one.column, 4U);
  EXPECT_NEAR(one.rms, 0.5 / 20, 1e-6);
  EXPECT_EQ(one.worst_slice, 2U);
  EXPECT_NEAR(one.worst_rms, 0.5 / std::sqrt(80), 1e-6);
  EXPECT_NEAR(one.mean_first - one.mean_second, 0.5 / 400, 1e-6);
  EXPECT_GT(one.relative, 0);
  EXPECT_LT(apart(a, write("c.h5", 0, 9), 0.9).rms, 1e-12);  // a corner
  const VolumeDifference none = apart(a, write("d.h5", 7, std::nanf("")), 0);
  EXPECT_EQ(none.left_out, 1U);
  EXPECT_EQ(none.rms, 0);
  const auto thrown = thrown_by([&] { (void)apart(a, write("e.h5", 0, 0, 4), 0); });
  EXPECT_EQ(thrown.status, Status::kWrongShape);
  EXPECT_TRUE(thrown.says("4 x 8 x 10")) << thrown.message;
}

TEST_F(Volumes, BecomeAPageThatNeedsNothingElse) {
  const std::string a = write("a<b>.h5", 0, 0), b = write("b.h5", 100, 2);
  const std::string page = view_volume({.volume = a, .other = b});
  EXPECT_EQ(page.find("{{"), std::string::npos);
  EXPECT_EQ(page.find("a<b>"), std::string::npos);  // names are no markup
  EXPECT_NE(page.find("a&lt;b&gt;.h5"), std::string::npos);
  EXPECT_EQ(page.find("http://"), page.find("http://www.w3.org/2000/svg"));
  EXPECT_EQ(page, view_volume({.volume = a, .other = b}));
  const auto thrown = thrown_by([&] { (void)view_volume({.volume = a, .other = {}, .slice = 5}); });
  EXPECT_EQ(thrown.status, kSliceRange);
  EXPECT_TRUE(thrown.says("--slice 5")) << thrown.message;
}

}  // namespace
}  // namespace tomoloom
