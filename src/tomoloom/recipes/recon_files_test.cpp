// SPDX-License-Identifier: BSD-3-Clause
// Scans in files of every kind give the volume that they are of, in files of every kind.
#include "tomoloom/recipes/recon_files.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "tomoloom/exchange/scan_reader.hpp"
#include "tomoloom/exchange/scan_writer.hpp"
#include "tomoloom/exchange/slice_folder.hpp"
#include "tomoloom/exchange/test_images.hpp"
#include "tomoloom/recipes/inspect_file.hpp"
#include "tomoloom/recipes/recon_block.hpp"
#include "tomoloom/recipes/test_recon.hpp"
#include "tomoloom/status.hpp"

namespace tomoloom {
namespace {

using loom::test::thrown_by;
using ReconFiles = test::ReconCase;

TEST_F(ReconFiles, AScanInChunksOfFramesIsUnpackedOnceAndGivesTheSameVolume) {
  SimulateJob scan = small();
  scan.rows = 70;
  scan.columns = 32;
  scan.detector.photons = 5000;
  simulate(scan);
  const std::string chunked = folder.file("chunked.h5");
  {
    const ScanReader reader(scan.output, "exchange");
    const ScanLayout& layout = reader.layout();
    hdf5::Writer writer(chunked, Overwrite::kYes);
    FrameBlock block;
    const auto copy = [&](const std::string& name, std::size_t frames,
                          const std::vector<std::size_t>& chunk) {
      writer.create(name, hdf5::Type::kUint16, {frames, 70, 32}, chunk);
      reader.frames(name, 0, frames, 0, 70, block);
      writer.write(name, 0, std::span<const std::uint16_t>(block.counts));
    };
    copy(layout.data, layout.angles, {3, 48, 32});
    copy(layout.white, layout.flats, {1, 70, 32});
    copy(layout.dark, layout.darks, {1, 32, 32});
    writer.create("exchange/theta", hdf5::Type::kFloat64, {layout.angles});
    writer.write("exchange/theta", 0, std::span<const double>(layout.theta_deg));
    writer.commit();
  }
  for (const auto& [find, tilt] : {std::pair(false, 0.0), {true, 0.0}, {false, 7.0}}) {
    ReconJob job = recon(scan);
    job.search = find ? AxisSearch::kTurn : AxisSearch::kNone;
    job.tilt_deg = tilt;  // rows of the blocks beside are read too
    EXPECT_FALSE(run(job).spooled);
    job.first_row = 5;  // blocks begin within chunks
    job.end_row = 69;
    run(job);
    const auto plain = volume(job.output);
    job.scan = chunked;
    EXPECT_TRUE(run(job).spooled);
    EXPECT_EQ(volume(job.output), plain);
  }
}

TEST_F(ReconFiles, StacksOfImagesGiveTheSameVolume) {
  SimulateJob scan = small();
  scan.rows = 40;
  scan.columns = 32;
  simulate(scan);
  const ScanReader reader(scan.output, "exchange");
  const ScanLayout& layout = reader.layout();
  FrameBlock block;
  const auto images = [&](const char* name, const std::string& set, std::size_t frames) {
    const std::string path = folder.file(name);
    std::filesystem::create_directory(path);
    for (std::size_t f = 0; f < frames; ++f) {
      reader.frames(set, f, 1, 0, layout.rows, block);
      test::write_image<std::uint16_t>(path + "/" + std::to_string(f) + ".tif", layout.columns,
                                       block.counts);
    }
    return path;
  };
  ReconJob job = recon(scan);
  run(job);
  const auto want = volume(job.output);
  job.scan = images("projections", layout.data, layout.angles);
  job.output = folder.file("second.h5");
  EXPECT_EQ(thrown_by([&] { (void)run(job); }).status, kScanMismatch);  // no flats
  job.flats = images("flats", layout.white, layout.flats);
  job.darks = images("darks", layout.dark, layout.darks);
  job.theta = "0:178.2";
  run(job);
  const auto got = volume(job.output);
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-6);
  // sinograms of line integrals
  const std::string sinograms = folder.file("sinograms");
  std::filesystem::create_directory(sinograms);
  RawBlock raw{.first = 0, .rows = layout.rows, .projections = {}, .flats = {}, .darks = {}};
  reader.projections(0, layout.rows, raw.projections);
  reader.flats(0, layout.rows, raw.flats);
  reader.darks(0, layout.rows, raw.darks);
  LargeVector<float> integrals;
  std::vector<float> one(layout.angles * layout.columns);
  (void)prepare_block(recon(scan), layout, raw, serial, integrals);
  for (std::size_t r = 0; r < layout.rows; ++r) {
    for (std::size_t i = 0; i < one.size(); ++i) {
      one[i] =
          integrals[(i / layout.columns * layout.rows + r) * layout.columns + i % layout.columns];
    }
    test::write_image<float>(sinograms + "/" + std::to_string(r) + ".tiff", layout.columns, one);
  }
  ReconJob integrated = recon(scan, "third.h5");
  integrated.scan = sinograms;
  integrated.stack = StackKind::kSinograms;
  integrated.input = InputKind::kIntegrals;
  std::ofstream theta(folder.file("theta.txt"));
  theta << "# degrees\n";
  for (const double t : layout.theta_deg) theta << t << "\n";
  theta.close();
  integrated.theta = folder.file("theta.txt");
  run(integrated);
  const auto third = volume(integrated.output);
  for (std::size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(third[i], want[i], 1e-6);
  integrated.theta = "0:180:1";
  EXPECT_EQ(thrown_by([&] { (void)run(integrated); }).status, Status::kNotFound);
  integrated.theta = folder.file("short.txt");
  std::ofstream(integrated.theta) << "0 1 2";
  EXPECT_EQ(thrown_by([&] { (void)run(integrated); }).status, kScanMismatch);
}

TEST_F(ReconFiles, AFolderOfImagesHoldsWhatTheFileHolds) {
  const SimulateJob scan = small();
  simulate(scan);
  ReconJob job = recon(scan);
  job.first_row = 2;
  job.end_row = 37;  // two blocks
  run(job);
  const auto want = volume(job.output);
  job.output = folder.file("slices");
  job.format = VolumeFormat::kTiff;
  job.resume = true;
  Observer observer;
  std::size_t done = 0;
  observer.progress = [&](const char*, std::size_t n, std::size_t) { done = n; };
  observer.stop_requested = [&] { return done >= 32; };
  EXPECT_EQ(thrown_by([&] { (void)reconstruct_scan(job, serial, observer); }).status,
            Status::kInterrupted);
  EXPECT_EQ(run(job).resumed, 32U);
  for (std::size_t s = 0; s < 35; ++s) {
    std::vector<float> slice(std::size_t{64} * 64);
    tiff::Reader(job.output + "/" + SliceFolder::file_name(2 + s))
        .read(0, 0, 64, std::span<float>(slice));
    for (std::size_t i = 0; i < slice.size(); ++i) {
      ASSERT_EQ(static_cast<double>(slice[i]), want[s * slice.size() + i]) << s;
    }
  }
  const FileReport report = inspect_file(job.output, "exchange");
  EXPECT_EQ(report.kind, "volume");
  EXPECT_EQ(report.facts.at(0).second, "35");
}

TEST_F(ReconFiles, InfoSaysWhatFilesAre) {
  SimulateJob scan = small();
  scan.rows = 3;
  simulate(scan);
  run(recon(scan));
  const FileReport report = inspect_file(scan.output, "exchange");
  EXPECT_EQ(report.kind, "scan");
  EXPECT_EQ(report.facts.at(0).second, "100 of 3 rows x 64 columns, uint16");
  EXPECT_EQ(inspect_file(folder.file("volume.h5"), "exchange").kind, "volume");
}

TEST_F(ReconFiles, SaturatedFlatsAreTold) {
  const auto warnings = [&](std::uint16_t light) {
    const std::string path = folder.file("bright.h5");
    const std::vector<double> theta{0, 90};
    {
      ScanWriter writer(path, Overwrite::kYes,
                        {.angles = 2, .rows = 1, .columns = 8, .flats = 1, .darks = 1}, theta);
      std::vector<std::uint16_t> low(8, 100), high(8, 40000);
      high[2] = high[5] = light;
      low[5] = light;  // and is so in the dark: blind
      for (const std::size_t a : {0U, 1U}) writer.projection(a, high);
      writer.flat(0, high);
      writer.dark(0, low);
      writer.commit();
    }
    std::string all;
    Observer observer;
    observer.message = [&](LogLevel level, const std::string& text) {
      if (level == LogLevel::kWarning) all += text + "\n";
    };
    const ReconSummary summary =
        reconstruct_scan({.scan = path, .output = folder.file("v.h5")}, serial, observer);
    EXPECT_EQ(summary.flaws.blind, 1U);
    EXPECT_EQ(summary.flaws.saturated, light == 65535 ? 1U : 0U);
    return all;
  };
  EXPECT_NE(warnings(65535).find("1 of 8 pixels are saturated"), std::string::npos);
  EXPECT_EQ(warnings(60000).find("saturated"), std::string::npos);
}

TEST_F(ReconFiles, AnglesThatLookLikeRadiansOrThatNobodyHasWrittenAreTold) {
  SimulateJob scan = small();
  scan.rows = 1;
  simulate(scan);
  ReconJob job = recon(scan);
  job.theta = folder.file("angles.txt");
  const auto told_of = [&](double step, int written) {
    std::ofstream file(job.theta);
    for (int a = 0; a < 100; ++a) file << (a < written ? step * a : 0.0) << "\n";
    file.close();
    run(job);
    return told;
  };
  constexpr double kRadians = 0.0314159;
  for (const double turns : {1.0, 2.0}) {
    EXPECT_NE(told_of(turns * kRadians, 100).find("are they radians?"), std::string::npos) << told;
  }
  EXPECT_NE(told_of(1.8, 96).find("5 of 100 projections have the angle 0: has nobody"),
            std::string::npos)
      << told;
  for (const double step : {0.1, 1.8, 3.6}) EXPECT_EQ(told_of(step, 98), "") << step;
}

TEST_F(ReconFiles, ProjectionsThatNobodyHasWrittenAreTold) {
  SimulateJob scan = small();
  scan.rows = 34;
  simulate(scan);
  const std::string part = folder.file("part.h5");
  const ScanReader reader(scan.output, "exchange");
  {
    ScanWriter writer(part, Overwrite::kYes,
                      {.angles = 100, .rows = 34, .columns = 64, .flats = 1, .darks = 1},
                      reader.layout().theta_deg);
    FrameBlock block;
    reader.projections(0, 34, block);
    const auto frame = [&](std::size_t number) {
      return std::span<const std::uint16_t>(block.counts).subspan(number * 34 * 64, 34U * 64);
    };
    for (std::size_t a = 0; a < 90; ++a) writer.projection(a, frame(a));
    reader.flats(0, 34, block);
    writer.flat(0, frame(0));
    reader.darks(0, 34, block);
    writer.dark(0, frame(0));
    writer.commit();
  }
  ReconJob job = recon(scan);
  EXPECT_EQ(run(job).flaws.unlit, 0U);
  job.scan = part;
  for (const Phase phase : {Phase::kNone, Phase::kPaganin}) {
    job.phase.method = phase;
    EXPECT_EQ(run(job).flaws.unlit, 340U);
    EXPECT_NE(told.find("340 of 3400 rows of projections hold 0 alone"), std::string::npos) << told;
  }
  job.window.skipped = {{90, 100}};
  EXPECT_EQ(run(job).flaws.unlit, 0U);
}

/// 90 projections of 40 rows, transmission 0.5 everywhere; none of them a number at two places, and
/// one value beyond any sum.
TEST_F(ReconFiles, ValuesThatAreNoNumbersAreToldByCountAndDoNotSpread) {
  constexpr std::size_t kAngles = 90, kRows = 40, kColumns = 32;
  ReconJob job{.scan = folder.file("odd.h5"), .output = folder.file("volume.h5")};
  const auto write = [&](float nan, float infinite, float large) {
    std::vector<float> values(kAngles * kRows * kColumns, 0.5F);
    values[3 * kRows * kColumns + 35 * kColumns + 7] = nan;
    values[70 * kRows * kColumns + 2 * kColumns + 31] = infinite;
    values.back() = large;
    hdf5::Writer writer(job.scan, Overwrite::kYes);
    writer.create("exchange/data", hdf5::Type::kFloat32, {kAngles, kRows, kColumns});
    writer.write("exchange/data", 0, std::span<const float>(values));
    writer.commit();
  };
  const auto count = [&](InputKind input, Phase phase, double tilt) {
    job.input = input;
    job.phase.method = phase;
    job.tilt_deg = tilt;
    const std::size_t found = run(job).flaws.no_number;
    for (const double value : volume(job.output)) EXPECT_LT(std::abs(value), 10);
    return found;
  };
  write(0.5F, 0.5F, 0.5F);
  EXPECT_EQ(count(InputKind::kTransmissions, Phase::kNone, 0), 0U);
  EXPECT_EQ(told.find("no numbers"), std::string::npos) << told;
  write(NAN, -INFINITY, 0.5F);
  for (const double tilt : {0.0, 5.0}) {
    EXPECT_EQ(count(InputKind::kTransmissions, Phase::kNone, tilt), 2U) << tilt;
  }
  EXPECT_EQ(count(InputKind::kTransmissions, Phase::kPaganin, 0), 2U);
  EXPECT_NE(told.find("odd.h5: 2 of 115200 values of projections are no numbers: taken to see "
                      "nothing between"),
            std::string::npos)
      << told;
  write(NAN, INFINITY, 2e20F);
  EXPECT_EQ(count(InputKind::kIntegrals, Phase::kNone, 0), 3U);
  EXPECT_NE(told.find("3 of 115200 values of projections are no numbers, or beyond 1e20: taken to "
                      "be 0"),
            std::string::npos)
      << told;
}

TEST_F(ReconFiles, DarksAreZeroWhereThatIsAskedFor) {
  SimulateJob scan = small();
  scan.rows = 8;
  simulate(scan);
  const std::string without = folder.file("without.h5");
  {
    const ScanReader reader(scan.output, "exchange");
    const ScanLayout& layout = reader.layout();
    ScanWriter writer(without, Overwrite::kYes,
                      {.angles = layout.angles,
                       .rows = layout.rows,
                       .columns = layout.columns,
                       .flats = layout.flats,
                       .darks = 0},
                      layout.theta_deg);
    FrameBlock block;
    for (std::size_t a = 0; a < layout.angles; ++a) {
      reader.frames(layout.data, a, 1, 0, layout.rows, block);
      writer.projection(a, block.counts);
    }
    for (std::size_t f = 0; f < layout.flats; ++f) {
      reader.frames(layout.white, f, 1, 0, layout.rows, block);
      writer.flat(f, block.counts);
    }
    writer.commit();
  }
  ReconJob job = recon(scan);
  run(job);
  const auto usual = volume(job.output);
  job.dark_zero = true;
  for (const Phase phase : {Phase::kNone, Phase::kPaganin}) {
    job.phase.method = phase;
    job.scan = scan.output;
    run(job);
    EXPECT_EQ(told.find("no darks"), std::string::npos) << told;
    const auto zero = volume(job.output);
    EXPECT_NE(zero, usual);
    ReconJob other = job;
    other.scan = without;
    other.dark_zero = false;
    run(other);
    EXPECT_NE(told.find("no darks"), std::string::npos) << told;
    EXPECT_EQ(volume(other.output), zero);
  }
  job.darks = folder.file("darks");
  EXPECT_EQ(thrown_by([&] { (void)run(job); }).status, Status::kUsage);
}

TEST_F(ReconFiles, AVolumeIsGoneOnWithByWhatMadeItNotByWhatWasAskedFor) {
  SimulateJob scan = small();
  simulate(scan);
  ReconJob job = recon(scan);
  job.resume = true;
  job.backend = Backend::kEmulate;  // as kAuto where a card is, whose memory is too little
  const auto source = open_scan(job);
  const VolumeShape shape{.slices = 2, .width = 4};
  const std::vector<float> slice(16, 1);
  const auto begin = [&](Backend made_on) { return open_volume(job, *source, shape, {}, made_on); };
  begin(Backend::kCpu)->write(0, slice);
  job.backend = Backend::kCpu;
  EXPECT_EQ(begin(Backend::kCpu)->slices_done(), 1U);
  EXPECT_EQ(begin(Backend::kCuda)->slices_done(), 0U);
}

}  // namespace
}  // namespace tomoloom
