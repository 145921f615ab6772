// SPDX-License-Identifier: BSD-3-Clause
// A scan that is simulated, reconstructed and compared with what it is of.
#include "tomoloom/recipes/recon_scan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "loom/runtime/executors.hpp"
#include "tomoloom/exchange/scan_writer.hpp"
#include "tomoloom/recipes/test_recon.hpp"
#include "tomoloom/simulate/phantom.hpp"
#include "tomoloom/status.hpp"

namespace tomoloom {
namespace {

using loom::test::read_bytes;
using loom::test::thrown_by;
using ReconScan = test::ReconCase;

TEST_F(ReconScan, TheVolumeIsWhatTheScanIsOf) {
  SimulateJob scan = small();
  scan.phantom = "ball";
  simulate(scan);
  const ReconSummary summary = run(recon(scan));
  EXPECT_EQ(summary.slices, 40U);
  EXPECT_EQ(summary.flaws.blind, 0U);
  EXPECT_LT(error(volume(folder.file("volume.h5")), volume(scan.truth), 30), 0.03);
}

TEST_F(ReconScan, AnAxisElsewhereGivesTheSameVolumeAndTheWrongOneDoesNot) {
  SimulateJob scan = small();
  scan.phantom = "ball";
  scan.centre = 33.3;
  simulate(scan);
  const auto truth = volume(scan.truth);
  run(recon(scan));
  EXPECT_LT(error(volume(folder.file("volume.h5")), truth, 27), 0.03);
  ReconJob wrong = recon(scan);
  wrong.centre = 31.5;
  run(wrong);
  EXPECT_GT(error(volume(folder.file("volume.h5")), truth, 27), 0.06);
}

TEST_F(ReconScan, TheAxisIsFoundInAScanWithNoiseAndRings) {
  SimulateJob scan = small();
  scan.columns = 128;
  scan.angles = 180;
  scan.centre = 66.8;
  scan.detector.photons = 20000;
  scan.detector.rings = 0.01;
  simulate(scan);
  ReconJob job = recon(scan);
  job.search = AxisSearch::kTurn;
  EXPECT_NEAR(run(job).centre, 66.8, 0.1);
  job.search = AxisSearch::kPairs;  // the last angle is a step before half a turn
  EXPECT_NEAR(run(job).centre, 66.8, 0.3);
  job.search = AxisSearch::kTurn;
  job.first_row = 20;
  job.end_row = 21;
  EXPECT_NEAR(run(job).centre, 66.8, 0.2);
}

TEST_F(ReconScan, AnAxisThatLeansIsPutUpright) {
  constexpr std::size_t kColumns = 64, kRows = 33, kAngles = 100;
  constexpr double kFirst = 29, kLast = 34;
  const auto write = [&](const char* name, bool leans) {
    const std::string path = folder.file(name);
    std::vector<double> theta(kAngles), line(kColumns);
    std::vector<float> values;
    for (std::size_t a = 0; a < kAngles; ++a) {
      theta[a] = 1.8 * static_cast<double>(a);
      for (std::size_t r = 0; r < kRows; ++r) {
        const double at = kFirst + (kLast - kFirst) * static_cast<double>(r) / (kRows - 1);
        const Sight sight{.columns = kColumns,
                          .rows = kRows,
                          .centre = leans ? at : (kFirst + kLast) / 2,
                          .scale = 0.02};
        const Phantom body{{.value = 1, .u = 0.2, .v = -0.1, .semi_u = 0.5, .semi_v = 0.3}};
        project_row(body, sight, r, theta[a] * std::numbers::pi / 180, line);
        values.insert(values.end(), line.begin(), line.end());
      }
    }
    hdf5::Writer writer(path, Overwrite::kYes);
    writer.create("exchange/data", hdf5::Type::kFloat32, {kAngles, kRows, kColumns});
    writer.write("exchange/data", 0, std::span<const float>(values));
    writer.create("exchange/theta", hdf5::Type::kFloat64, {kAngles});
    writer.write("exchange/theta", 0, std::span<const double>(theta));
    writer.commit();
    return path;
  };
  const auto made = [&](const std::string& path, double first, std::optional<double> last) {
    ReconJob job{.scan = path, .output = folder.file("volume.h5")};
    job.input = InputKind::kIntegrals;
    job.centre = first;
    job.centre_last = last;
    job.first_row = 4;  // the lean is that of the whole detector
    job.end_row = 33;
    EXPECT_EQ(run(job).centre, last ? (kFirst + kLast) / 2 : first);
    return volume(job.output);
  };
  const auto upright = made(write("upright.h5", false), (kFirst + kLast) / 2, std::nullopt);
  const std::string leaning = write("leaning.h5", true);
  EXPECT_LT(error(made(leaning, kFirst, kLast), upright, 26), 0.02);
  EXPECT_GT(error(made(leaning, (kFirst + kLast) / 2, std::nullopt), upright, 26), 0.05);
}

TEST_F(ReconScan, RingsGoAfterReconstructionAroundTheAxisOfEachMethod) {
  SimulateJob scan = small();
  scan.phantom = "disc";
  scan.detector.rings = 0.02;
  simulate(scan);
  const auto truth = volume(scan.truth);
  ReconJob job = recon(scan);
  (void)run(job);
  const double before = error(volume(job.output), truth, 18);
  job.rings = {.width = 6, .threshold = 0.3, .arc_deg = 40};
  (void)run(job);
  const auto mended = volume(job.output);
  EXPECT_LT(error(mended, truth, 18), 0.7 * before);
  const auto threads = make_executor(3);
  (void)reconstruct_scan(job, *threads);
  EXPECT_EQ(volume(job.output), mended);
}

TEST_F(ReconScan, HalfOfEachProjectionOverAWholeTurnGivesTheWholeSlice) {
  constexpr std::size_t kWhole = 64, kSeen = 40, kHigh = 3, kCount = 240;
  const auto write = [&](const char* name, std::size_t first, std::size_t count, double arc) {
    const std::string path = folder.file(name);
    std::vector<double> theta(kCount), line(kWhole);
    std::vector<float> values;
    for (std::size_t a = 0; a < kCount; ++a) {
      theta[a] = arc * static_cast<double>(a) / kCount;
      for (std::size_t r = 0; r < kHigh; ++r) {
        const Sight sight{.columns = kWhole, .rows = kHigh, .centre = 31.5, .scale = 0.02};
        const Phantom body{{.value = 1, .u = 0.2, .v = -0.1, .semi_u = 0.6, .semi_v = 0.5}};
        project_row(body, sight, r, theta[a] * std::numbers::pi / 180, line);
        values.insert(values.end(), line.begin() + static_cast<std::ptrdiff_t>(first),
                      line.begin() + static_cast<std::ptrdiff_t>(first + count));
      }
    }
    hdf5::Writer writer(path, Overwrite::kYes);
    writer.create("exchange/data", hdf5::Type::kFloat32, {kCount, kHigh, count});
    writer.write("exchange/data", 0, std::span<const float>(values));
    writer.create("exchange/theta", hdf5::Type::kFloat64, {kCount});
    writer.write("exchange/theta", 0, std::span<const double>(theta));
    writer.commit();
    return path;
  };
  const auto job_of = [&](const std::string& path, double centre) {
    ReconJob job{.scan = path, .output = folder.file("volume.h5")};
    job.input = InputKind::kIntegrals;
    job.centre = centre;
    return job;
  };
  ReconJob job = job_of(write("whole.h5", 0, kWhole, 360), 31.5);
  (void)run(job);
  const auto whole = volume(job.output);
  for (const std::size_t first : {kWhole - kSeen, std::size_t{0}}) {  // the axis near either end
    job = job_of(write("half.h5", first, kSeen, 360), 31.5 - static_cast<double>(first));
    job.acquisition = Acquisition::kHalf;
    (void)run(job);
    const auto got = volume(job.output);
    ASSERT_EQ(got.size(), whole.size());
    EXPECT_LT(error(got, whole, 30), 0.01) << first;
    const auto threads = make_executor(3);
    (void)reconstruct_scan(job, *threads);
    EXPECT_EQ(volume(job.output), got);
  }
  ReconJob bad = job;
  bad.centre.reset();
  EXPECT_EQ(thrown_by([&] { (void)run(bad); }).status, Status::kUnsupported);
  bad = job;
  bad.method = Method::kSirt;
  EXPECT_EQ(thrown_by([&] { (void)run(bad); }).status, Status::kUnsupported);
  bad = job_of(write("half.h5", 0, kSeen, 180), 31.5);
  bad.acquisition = Acquisition::kHalf;
  EXPECT_EQ(thrown_by([&] { (void)run(bad); }).status, Status::kUnsupported);
}

TEST_F(ReconScan, EachMethodOnThePairGivesWhatTheScanIsOf) {
  SimulateJob scan = small();
  scan.rows = 35;  // two blocks
  scan.angles = 60;
  simulate(scan);
  const auto truth = volume(scan.truth);
  ReconJob job = recon(scan);
  for (const auto& [method, iterations] : {std::pair{Method::kFbp, 1U},
                                           {Method::kSirt, 60U},
                                           {Method::kCgls, 12U},
                                           {Method::kOsem, 16U},
                                           {Method::kTv, 60U}}) {
    job.blocks = 5;
    job.reg_par = 1e-4;
    job.method = method;
    job.iterations = iterations;
    EXPECT_EQ(run(job).slices, 35U);
    EXPECT_LT(error(volume(job.output), truth, 30), method == Method::kTv ? 0.08 : 0.06);
  }
  job.memory = std::uint64_t{1} << 20;
  EXPECT_EQ(thrown_by([&] { (void)run(job); }).status, Status::kMemory);
  job.memory = 0;
  std::size_t asked = 0;
  Observer observer;
  observer.stop_requested = [&] { return ++asked > 8; };  // in the middle of the iterations
  EXPECT_EQ(thrown_by([&] { (void)reconstruct_scan(job, serial, observer); }).status,
            Status::kInterrupted);
}

TEST_F(ReconScan, RowsAreTheSameSlicesAsInTheWholeVolume) {
  const SimulateJob scan = small();
  simulate(scan);
  run(recon(scan));
  ReconJob some = recon(scan, "some.h5");
  some.first_row = 3;
  some.end_row = 9;
  run(some);
  const auto all = volume(folder.file("volume.h5")), part = volume(folder.file("some.h5"));
  ASSERT_EQ(part.size(), 6U * 64 * 64);
  double worst = 0, most = 0;
  for (std::size_t i = 0; i < part.size(); ++i) {
    worst = std::max(worst, std::abs(part[i] - all[3 * 64 * 64 + i]));
    most = std::max(most, std::abs(part[i]));
  }
  EXPECT_LT(worst, 2e-6 * most);  // slices that share a transform share its rounding
  EXPECT_EQ(hdf5::Reader(folder.file("some.h5")).read_integers("exchange/row").front(), 3);
}

TEST_F(ReconScan, AnyNumberOfThreadsWritesTheSameBytes) {
  SimulateJob scan = small();
  scan.detector.photons = 5000;
  simulate(scan);
  ReconJob job = recon(scan, "one.h5");
  job.stripe.method = Stripe::kSf;
  run(job);
  job.output = folder.file("three.h5");
  const auto threads = make_executor(3);
  (void)reconstruct_scan(job, *threads);
  EXPECT_EQ(read_bytes(folder.file("one.h5")), read_bytes(folder.file("three.h5")));
}

TEST_F(ReconScan, StripesAreLessWhenTheyAreRemoved) {
  SimulateJob scan = small();
  scan.phantom = "ball";
  scan.detector.rings = 0.03;
  simulate(scan);
  const auto truth = volume(scan.truth);
  ReconJob job = recon(scan);
  run(job);
  const double with_rings = error(volume(job.output), truth, 27);
  job.stripe.method = Stripe::kSf;
  run(job);
  EXPECT_LT(error(volume(job.output), truth, 27), 0.6 * with_rings);
}

TEST_F(ReconScan, ZingersAreLessWhenTheyAreRemoved) {
  SimulateJob scan = small();
  scan.phantom = "ball";
  scan.detector.zingers = 0.002;
  scan.detector.photons = 100000;
  simulate(scan);
  const auto truth = volume(scan.truth);
  ReconJob job = recon(scan);
  run(job);
  const double with_zingers = error(volume(job.output), truth, 27);
  job.outlier = 0.2;
  run(job);
  EXPECT_LT(error(volume(job.output), truth, 27), 0.5 * with_zingers);
}

TEST_F(ReconScan, WhatDoesNotFitIsOneLineAndLeavesNothing) {
  SimulateJob scan = small();
  scan.rows = 4;
  simulate(scan);
  const auto says = [&](const std::function<void(ReconJob&)>& change, Status status,
                        const std::string& part) {
    ReconJob job = recon(scan, "none.h5");
    change(job);
    const auto thrown = thrown_by([&] { (void)run(job); });
    EXPECT_EQ(thrown.status, status) << thrown.message;
    EXPECT_TRUE(thrown.says(part)) << thrown.message;
  };
  says([](ReconJob& job) { job.centre = 64; }, kCentreRange, "from 0 to 63");
  says([](ReconJob& job) { job.end_row = 5; }, kSliceRange, "rows 0 to 4");
  says([](ReconJob& job) { job.first_row = 4; }, kSliceRange, "rows 4 to 4");
  says([](ReconJob& job) { job.memory = 1000; }, Status::kMemory, "--memory");
  says([](ReconJob& job) { job.group = "exchange2"; }, Status::kMissingHdu, "exchange2/data");
  says([](ReconJob& job) { job.output = job.scan; }, Status::kUsage, "scan");
  EXPECT_FALSE(std::filesystem::exists(folder.file("none.h5")));
}

TEST_F(ReconScan, DarksThatOutshineFlatsAreNotTakenForAScan) {
  const std::string path = folder.file("exchanged.h5");
  const std::vector<double> theta{0, 90};
  {
    ScanWriter writer(path, Overwrite::kYes,
                      {.angles = 2, .rows = 1, .columns = 8, .flats = 1, .darks = 1}, theta);
    const std::vector<std::uint16_t> low(8, 100), high(8, 40000);
    writer.projection(0, low);
    writer.projection(1, low);
    writer.flat(0, low);
    writer.dark(0, high);
    writer.commit();
  }
  ReconJob job{.scan = path, .output = folder.file("none.h5")};
  const auto thrown = thrown_by([&] { (void)run(job); });
  EXPECT_EQ(thrown.status, kScanMismatch);
  EXPECT_TRUE(thrown.says("8 of 8 pixels")) << thrown.message;
  EXPECT_FALSE(std::filesystem::exists(job.output));
}

TEST_F(ReconScan, IntegralsAreTakenAsTheyAre) {
  const std::string path = folder.file("integrals.h5");
  {
    hdf5::Writer writer(path, Overwrite::kYes);
    writer.create("exchange/data", hdf5::Type::kFloat32, {90, 1, 64});
    std::vector<float> values(std::size_t{90} * 64, 0);
    for (std::size_t i = 0; i < values.size(); ++i) {  // a disc of radius 20 and value 1
      const double t = static_cast<double>(i % 64) - 31.5;
      values[i] = t * t < 400 ? static_cast<float>(2 * std::sqrt(400 - t * t)) : 0;
    }
    values[60] = std::nanf("");  // beside the disc: counts as nothing
    writer.write("exchange/data", 0, std::span<const float>(values));
    writer.commit();
  }
  ReconJob job{.scan = path, .output = folder.file("volume.h5")};
  EXPECT_EQ(thrown_by([&] { (void)run(job); }).status, kScanMismatch);  // no flats
  job.input = InputKind::kIntegrals;
  run(job);
  const auto slice = volume(job.output);
  EXPECT_NEAR(slice[32 * 64 + 32], 1, 0.02);
  EXPECT_NEAR(slice[24 * 64 + 40], 1, 0.02);
  for (const double value : slice) ASSERT_TRUE(std::isfinite(value));
}

TEST_F(ReconScan, AnInterruptedRunIsGoneOnWithAndGivesTheSameBytes) {
  SimulateJob scan = small();
  scan.rows = 100;  // four blocks
  simulate(scan);
  run(recon(scan, "whole.h5"));
  ReconJob job = recon(scan);
  job.resume = true;
  const auto interrupted = [&] {
    std::size_t done = 0;
    Observer observer;
    observer.progress = [&](const char*, std::size_t n, std::size_t) { done = n; };
    observer.stop_requested = [&] { return done >= 64; };
    return thrown_by([&] { (void)reconstruct_scan(job, serial, observer); });
  };
  EXPECT_EQ(interrupted().status, Status::kInterrupted);
  EXPECT_FALSE(std::filesystem::exists(job.output));
  ASSERT_TRUE(std::filesystem::exists(hdf5::part_name(job.output)));
  const ReconSummary summary = run(job);
  EXPECT_EQ(summary.resumed, 64U);
  EXPECT_EQ(read_bytes(job.output), read_bytes(folder.file("whole.h5")));
  EXPECT_FALSE(std::filesystem::exists(hdf5::part_name(job.output)));
  EXPECT_FALSE(std::filesystem::exists(hdf5::part_name(job.output) + ".done"));
  // what another command has left is not taken for one's own
  EXPECT_EQ(interrupted().status, Status::kInterrupted);
  job.filter.filter = Filter::kHann;
  EXPECT_EQ(run(job).resumed, 0U);
  EXPECT_NE(read_bytes(job.output), read_bytes(folder.file("whole.h5")));
}

TEST_F(ReconScan, LittleMemoryMeansOneBlockAtATimeAndTheSameBytes) {
  SimulateJob scan = small();
  scan.columns = 256;
  scan.rows = 70;
  scan.angles = 64;
  simulate(scan);
  ReconJob job = recon(scan, "much.h5");
  const ReconSummary much = run(job);
  EXPECT_TRUE(much.overlap);
  job.output = folder.file("little.h5");
  job.memory = much.memory - 1;
  const ReconSummary little = run(job);
  EXPECT_FALSE(little.overlap);
  EXPECT_LT(little.memory, much.memory);
  EXPECT_EQ(read_bytes(folder.file("much.h5")), read_bytes(job.output));
  job.memory = little.memory - 1;
  EXPECT_EQ(thrown_by([&] { (void)run(job); }).status, Status::kMemory);
}

}  // namespace
}  // namespace tomoloom
