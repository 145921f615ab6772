// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/simulate_camera.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "fiberloom/simulate/simulated_psf.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"

namespace fiberloom {
namespace {

class SimulateCameras : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = (std::filesystem::path(testing::TempDir()) / "fiberloom_simulate").string();
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  /// A narrow r CCD keeps the test quick.
  std::string write_narrow_psf() const {
    SimulatedPsfOptions options = camera_psf_options('r');
    options.nfiber = 8;
    options.npix_x = 120;
    PsfFile file;
    file.model = make_psf(options);
    write_psf(directory_ + "/narrow.fits", file, Overwrite::kYes);
    return directory_ + "/narrow.fits";
  }
  static std::string bytes(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string directory_;
  SerialExecutor serial_;
};

TEST_F(SimulateCameras, WriteWhatTheReadersRead) {
  SimulateJob job;
  job.directory = directory_ + "/out";
  job.psf = write_narrow_psf();
  job.nspec = 5;
  job.exposures = 2;
  const SimulateSummary summary = simulate_cameras(job, serial_);
  EXPECT_EQ(summary.files.size(), 5U);
  EXPECT_EQ(summary.nspec, 5);

  const PsfFile psf = read_psf(job.directory + "/psf-r0.fits");
  EXPECT_EQ(psf.model.nfiber(), 8);
  const PreprocFile frame = read_preproc(job.directory + "/preproc-r0-00000002.fits");
  EXPECT_EQ(frame.ccd.image.cols(), 120U);
  EXPECT_EQ(frame.header.text("CAMERA"), "r0");
  EXPECT_EQ(frame.header.text("FLAVOR"), "science");
  EXPECT_EQ(frame.header.number("EXPID"), 2.0);
  ASSERT_TRUE(frame.fibermap.has_value());
  EXPECT_EQ(frame.fibermap->rows, 8U);
  const auto status = frame.fibermap->column("FIBERSTATUS");
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ((*status)[4], 0.0);
  EXPECT_EQ((*status)[5], 4.0);
  EXPECT_EQ(frame.header.integer("TILEID"), 1);
  EXPECT_EQ(frame.header.text("DETECTOR"), "SIM");
  for (const char* name :
       {"FIBER_X", "FIBER_Y", "DELTA_X", "DELTA_Y", "FIBER_RA", "FIBER_DEC", "GAIA_PHOT_G_MEAN_MAG",
        "GAIA_PHOT_BP_MEAN_MAG", "GAIA_PHOT_RP_MEAN_MAG", "PETAL_LOC", "DEVICE_LOC"}) {
    const auto column = frame.fibermap->column(name);
    ASSERT_TRUE(column.has_value()) << name;
    for (const double v : *column) EXPECT_TRUE(std::isfinite(v)) << name;
  }
  const auto ra = frame.fibermap->column("TARGET_RA"),
             fiber_ra = frame.fibermap->column("FIBER_RA");
  for (std::size_t f = 0; f < 8; ++f) {
    EXPECT_NEAR((*ra)[f], (*fiber_ra)[f], 1e-4) << "an arcsecond is 2.8e-4 degrees";
    EXPECT_NE((*ra)[f], (*fiber_ra)[f]);
  }
  const TruthFile truth = read_truth(job.directory + "/truth-r0-00000001.fits");
  EXPECT_EQ(truth.flux.rows(), 5U);
  EXPECT_EQ(truth.flux.cols(), truth.wave.size());
  EXPECT_TRUE(truth.fibermap.column("REDSHIFT").has_value());
}

TEST_F(SimulateCameras, WriteTheSameBytesAgain) {
  SimulateJob job;
  job.psf = write_narrow_psf();
  job.defects = WithDefects::kYes;
  job.directory = directory_ + "/one";
  const auto one = simulate_cameras(job, serial_);
  job.directory = directory_ + "/two";
  const auto two = simulate_cameras(job, serial_);
  for (std::size_t i = 0; i < one.files.size(); ++i) {
    EXPECT_TRUE(bytes(one.files[i]) == bytes(two.files[i])) << one.files[i];
  }
}

TEST_F(SimulateCameras, RefuseANameThatIsNoCamera) {
  for (const char* name : {"", "r", "x0", "r10", "ra"}) {
    SimulateJob job;
    job.directory = directory_;
    job.cameras = {name};
    EXPECT_THROW(static_cast<void>(simulate_cameras(job, serial_)), Error) << name;
  }
}

TEST_F(SimulateCameras, APsfThatDoesNotCoverTheGridIsNamedAndNothingIsWritten) {
  SimulateJob job;
  job.directory = directory_ + "/out";
  job.psf = write_narrow_psf();
  job.cameras = {"z0"};
  try {
    static_cast<void>(simulate_cameras(job, serial_));
    FAIL() << "an r PSF was taken for z";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), kNotCovered);
    EXPECT_NE(std::string(error.what()).find("narrow.fits"), std::string::npos) << error.what();
  }
  EXPECT_FALSE(std::filesystem::exists(job.directory));
}

TEST_F(SimulateCameras, ThePsfThatWasGivenIsNeverReplaced) {
  SimulateJob job;
  job.directory = directory_;
  job.psf = directory_ + "/./psf-r0.fits";
  std::filesystem::rename(write_narrow_psf(), job.psf);
  const std::string before = bytes(job.psf);
  try {
    static_cast<void>(simulate_cameras(job, serial_));
    FAIL() << "the input was taken for an output";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kUsage);
  }
  EXPECT_TRUE(bytes(job.psf) == before);
}

}  // namespace
}  // namespace fiberloom
