// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/view_volume.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "loom/json/json.hpp"
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
  SerialExecutor serial;
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
  EXPECT_EQ(none.one_sided, 1U);
  EXPECT_EQ(none.rms, 0);
  const auto thrown = thrown_by([&] { (void)apart(a, write("e.h5", 0, 0, 4), 0); });
  EXPECT_EQ(thrown.status, Status::kWrongShape);
  EXPECT_TRUE(thrown.says("4 x 8 x 10")) << thrown.message;
}

TEST_F(Volumes, OfZerosAreFarFromAllOthers) {
  const std::string zeros = folder.file("zeros.h5");
  {
    hdf5::Writer writer(zeros, Overwrite::kYes);
    writer.create("exchange/data", hdf5::Type::kFloat32, {5, 8, 10});
    writer.write("exchange/data", 0, std::span<const float>(std::vector<float>(400, 0)));
    writer.commit();
  }
  EXPECT_TRUE(std::isinf(apart(write("a.h5", 0, 0), zeros, 0).relative));
  EXPECT_EQ(apart(zeros, zeros, 0).relative, 0);
}

TEST_F(Volumes, BecomeAPageThatNeedsNothingElse) {
  const std::string a = write("a<b>.h5", 0, 0), b = write("b.h5", 100, 2);
  const std::string page = view_volume({.volume = a, .other = b}, serial);
  EXPECT_EQ(page.find("{{"), std::string::npos);
  EXPECT_EQ(page.find("a<b>"), std::string::npos);  // names are no markup
  EXPECT_NE(page.find("a&lt;b&gt;.h5"), std::string::npos);
  EXPECT_EQ(page.find("http://"), page.find("http://www.w3.org/2000/svg"));
  EXPECT_EQ(page, view_volume({.volume = a, .other = b}, serial));
  const auto thrown =
      thrown_by([&] { (void)view_volume({.volume = a, .other = {}, .slice = 5}, serial); });
  EXPECT_EQ(thrown.status, kSliceRange);
  EXPECT_TRUE(thrown.says("--slice 5")) << thrown.message;
}

using ScanOnThePage = test::ReconCase;

Json data_of(const std::string& page) {
  const std::string begin = "id=\"data\">";
  const std::size_t at = page.find(begin) + begin.size();
  return Json::parse(page.substr(at, page.find("</script>", at) - at)).value();
}

TEST_F(ScanOnThePage, IsTheSinogramOfTheSliceAndTheSliceWithOtherAxes) {
  SimulateJob scan = small();
  simulate(scan);
  ReconJob job = recon(scan);
  job.first_row = 8;
  job.end_row = 30;
  job.centre = 31;
  run(job);
  ViewJob view{.volume = job.output, .other = {}, .slice = 5};
  view.scan.scan = scan.output;
  view.scan.axes = 5;
  const Json data = data_of(view_volume(view, serial));
  const Json& shown = data.at("scan");
  EXPECT_EQ(shown.at("row").get<int>(), 13);
  EXPECT_EQ(shown.at("sinogram").at("height").get<int>(), 100);
  const auto& axes = shown.at("axes").elements();
  ASSERT_EQ(axes.size(), 5U);
  EXPECT_EQ(axes[0].at("axis").get<double>(), 30.0);
  // with the volume's axis it is the slice of the volume
  const auto apart = [&](std::size_t i) {
    const Json& slice = data.at("planes").elements()[0];
    return std::abs(axes[i].at("low").get<double>() - slice.at("low").get<double>()) +
           std::abs(axes[i].at("step").get<double>() - slice.at("step").get<double>()) * 65534;
  };
  EXPECT_LT(apart(2), 1e-6);
  EXPECT_GT(apart(4), 1e-4);
  view.scan.axes = 0;
  EXPECT_EQ(data_of(view_volume(view, serial)).at("scan").at("axes").size(), 0U);
}

TEST_F(ScanOnThePage, HasTheVolumesAxisAndTheVolumesSliceHoweverThatWasMade) {
  SimulateJob scan = small();
  simulate(scan);
  const auto numbers = [&](const char* name, std::size_t count) {
    std::ofstream file(folder.file(name));
    for (std::size_t i = 0; i < count; ++i) file << i % 5 << "\n";
    return folder.file(name);
  };
  std::vector<ReconJob> jobs(5, recon(scan));
  jobs[0].window.bin = 2;
  jobs[1].window = {.first_column = 6, .end_column = 60};
  jobs[2].weights = numbers("weights.txt", 100);
  jobs[3].filter.filter = Filter::kCustom;
  jobs[3].filter_weights = numbers("filter.txt", 64);
  jobs[4].rings.width = 5;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].centre = 30;
    run(jobs[i]);
    ViewJob view{.volume = jobs[i].output, .other = {}};
    view.scan = {.scan = scan.output, .flats = {}, .darks = {}, .axes = 3, .step = 1};
    const Json data = data_of(view_volume(view, serial));
    EXPECT_EQ(data.at("scan").at("axis").get<double>(), 30.0) << i;
    const auto& axes = data.at("scan").at("axes").elements();
    ASSERT_EQ(axes.size(), 3U) << i;
    EXPECT_EQ(axes[0].at("axis").get<double>(), 29.0) << i;
    const Json& slice = data.at("planes").elements()[0];
    for (const char* number : {"low", "step"}) {
      const auto want = slice.at(number).get<double>();
      EXPECT_NEAR(axes[1].at(number).get<double>(), want, 1e-4 * std::abs(want)) << i;
    }
  }
  ReconJob tilted = recon(scan);
  tilted.tilt_deg = 3;
  run(tilted);
  ViewJob view{.volume = tilted.output, .other = {}};
  view.scan.scan = scan.output;
  EXPECT_EQ(data_of(view_volume(view, serial)).at("scan").at("axes").size(), 0U);
}

TEST_F(ScanOnThePage, ThatIsNotTheVolumesIsRefused) {
  SimulateJob scan = small();
  simulate(scan);
  ReconJob job = recon(scan);
  run(job);
  SimulateJob other = small("other.h5");
  other.columns = 60;
  simulate(other);
  ViewJob view{.volume = job.output, .other = {}};
  view.scan.scan = other.output;
  EXPECT_EQ(thrown_by([&] { (void)view_volume(view, serial); }).status, kScanMismatch);
  view.scan.scan = folder.file("absent.h5");
  EXPECT_EQ(thrown_by([&] { (void)view_volume(view, serial); }).status, Status::kNotFound);
  view.volume = scan.truth;  // says nothing of how it was made
  view.scan.scan = scan.output;
  EXPECT_EQ(thrown_by([&] { (void)view_volume(view, serial); }).status, kScanMismatch);
}

}  // namespace
}  // namespace tomoloom
