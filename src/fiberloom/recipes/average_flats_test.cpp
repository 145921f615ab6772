// SPDX-License-Identifier: BSD-3-Clause
// A camera's flat of a night beside flats that do not go with it.
#include "fiberloom/recipes/average_flats.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fiberloom/formats/calibration_file.hpp"
#include "loom/testing/scratch_folder.hpp"
#include "loom/testing/test_files.hpp"

namespace fiberloom {
namespace {

class AverageFlats : public loom::ScratchFolder {
 protected:
  /// A flat of 1 of `bins` bins and four fibres with places.
  [[nodiscard]] std::string write_flat(const std::string& camera, std::size_t bins) const {
    constexpr std::size_t kFibers = 4;
    FiberFlatFile file;
    file.header.set("CAMERA", camera);
    file.header.set("PROGRAM", std::string("CALIB-1"));
    file.flat = Array2D<double>(kFibers, bins, 1.0);
    file.ivar = Array2D<double>(kFibers, bins, 1e4);
    file.mask = Array2D<std::uint32_t>(kFibers, bins, 0U);
    for (std::size_t i = 0; i < bins; ++i) file.wave.push_back(6000 + static_cast<double>(i));
    file.mean.assign(bins, 100.0);
    const std::vector<double> x{-100, 100, 50, -50}, y{100, 100, -100, -150};
    const std::vector<std::int32_t> status(kFibers, 0);
    file.fibermap.emplace().add("FIBERASSIGN_X", std::span<const double>(x));
    file.fibermap->add("FIBERASSIGN_Y", std::span<const double>(y));
    file.fibermap->add("FIBERSTATUS", std::span<const std::int32_t>(status));
    std::string path = this->path("flat-" + camera + ".fits");
    write_fiber_flat(path, file, Overwrite::kYes);
    return path;
  }
};

TEST_F(AverageFlats, OfACameraGoOnWithoutTheBandsOthersWhereTheseAreOfAnotherGrid) {
  CalibrationJob job;
  job.flats = {write_flat("r0", 40)};
  job.output = path("night-r0.fits");
  std::vector<std::string> warnings;
  Observer observer;
  observer.message = [&](LogLevel, const std::string& text) { warnings.push_back(text); };
  const AverageFlatsSummary beside = average_flats_of_camera(job, {write_flat("r1", 40)}, observer);
  EXPECT_EQ(beside.together, (std::vector<std::string>{"r0", "r1"}));
  EXPECT_TRUE(warnings.empty());
  const AverageFlatsSummary alone = average_flats_of_camera(job, {write_flat("r1", 50)}, observer);
  EXPECT_EQ(alone.together, std::vector<std::string>{"r0"});
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("not laid beside the others of its band"), std::string::npos);
  EXPECT_EQ(read_fiber_flat(job.output).wave.size(), 40U);
  EXPECT_EQ(loom::test::thrown_by([&] {
              (void)average_flats_of_camera(job, {path("flat-z9.fits")}, observer);
            }).status,
            Status::kNotFound);
}

}  // namespace
}  // namespace fiberloom
