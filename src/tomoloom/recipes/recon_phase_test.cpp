// SPDX-License-Identifier: BSD-3-Clause
// A scan with fringes, whose phase is retrieved on the way to a volume.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tomoloom/exchange/scan_writer.hpp"
#include "tomoloom/recipes/test_recon.hpp"
#include "tomoloom/status.hpp"

namespace tomoloom {
namespace {

using loom::test::read_bytes;
using loom::test::thrown_by;

constexpr std::size_t kFringeColumns = 64, kFringeRows = 40, kFringeAngles = 60;

/// Soft balls, each the same Gaussian from everywhere.
struct SoftBall {
  double u, v, row, wide, depth;
};
constexpr SoftBall kBalls[] = {{6, 3, 17, 4, 0.5}, {-9, 5, 28, 3, 0.4}, {2, -11, 8, 3.5, 0.3}};

/// Transmission at a pixel, and `area` times its Laplacian taken away: fringes.
double light(double angle, double row, double column, double area) {
  double p = 0, slope_x = 0, slope_y = 0, curve = 0;
  for (const SoftBall& b : kBalls) {
    const double s = b.wide * b.wide;
    const double x = column - 31.5 - b.u * std::cos(angle) - b.v * std::sin(angle);
    const double y = row - b.row, own = b.depth * std::exp(-(x * x + y * y) / (2 * s));
    p += own;
    slope_x -= own * x / s;
    slope_y -= own * y / s;
    curve += own * ((x * x + y * y) / (s * s) - 2 / s);
  }
  return std::exp(-p) * (1 - area * (slope_x * slope_x + slope_y * slope_y - curve));
}

class ReconPhase : public test::ReconCase {
 protected:
  static PhaseChoice optics() {
    return {.method = Phase::kPaganin,
            .energy_kev = 20,
            .distance_cm = 10,
            .pixel_cm = 1e-4,
            .delta_beta = 10};
  }
  /// Counts of a detector whose pixels differ.
  std::string scan(const char* name, double area, double zinger = 0) const {
    std::vector<double> theta(kFringeAngles);
    for (std::size_t a = 0; a < kFringeAngles; ++a) theta[a] = 3.0 * static_cast<double>(a);
    const std::string path = folder.file(name);
    ScanWriter writer(path, Overwrite::kYes,
                      {.angles = kFringeAngles,
                       .rows = kFringeRows,
                       .columns = kFringeColumns,
                       .flats = 2,
                       .darks = 1},
                      theta);
    std::vector<std::uint16_t> dark(kFringeRows * kFringeColumns), flat(dark.size()),
        frame(dark.size());
    for (std::size_t i = 0; i < dark.size(); ++i) {
      dark[i] = static_cast<std::uint16_t>(100 + i % 7);
      flat[i] = static_cast<std::uint16_t>(40000 + 300 * (i % 11) + 10 * (i / kFringeColumns));
    }
    writer.flat(0, flat);
    writer.flat(1, flat);
    writer.dark(0, dark);
    for (std::size_t a = 0; a < kFringeAngles; ++a) {
      for (std::size_t i = 0; i < frame.size(); ++i) {
        const double t =
            light(theta[a] * std::numbers::pi / 180, static_cast<double>(i / kFringeColumns),
                  static_cast<double>(i % kFringeColumns), area) +
            ((i + 977 * a) % 3001 == 0 ? zinger : 0);
        frame[i] = static_cast<std::uint16_t>(std::lround(dark[i] + t * (flat[i] - dark[i])));
      }
      writer.projection(a, frame);
    }
    writer.commit();
    return path;
  }
  ReconJob job(const std::string& path, Phase method, const char* output = "volume.h5") const {
    ReconJob job{.scan = path, .output = folder.file(output)};
    job.centre = 31.5;
    job.phase = optics();
    job.phase.method = method;
    return job;
  }
  std::vector<double> made(const ReconJob& job) {
    (void)run(job);
    return volume(job.output);
  }
};

/// pi lambda z (delta / beta) / (4 pi^2) in pixels.
const double kFringeArea = 1.2398420e-7 / 20 * 10 * 10 / (4 * std::numbers::pi) / 1e-8;

TEST_F(ReconPhase, TheVolumeIsThatWithoutFringes) {
  const auto truth = made(job(scan("plain.h5", 0), Phase::kNone));
  const std::string seen = scan("seen.h5", kFringeArea);
  EXPECT_GT(error(made(job(seen, Phase::kNone)), truth, 30), 0.05);
  const auto got = made(job(seen, Phase::kPaganin));
  EXPECT_LT(error(got, truth, 30), 3e-3);
  // TomoPy's frequencies are half a step off: the same body, a little less of it
  ReconJob peers = job(seen, Phase::kTomopy);
  EXPECT_LT(error(made(peers), truth, 30), 0.02);
  EXPECT_GT(error(volume(peers.output), got, 30), 1e-4);
  peers.phase.delta_beta = 0;
  peers.phase.alpha = phase_alpha(optics());
  EXPECT_EQ(made(peers), volume(peers.output));
}

TEST_F(ReconPhase, BytesAreTheSameForAnyNumberOfThreadsAndAfterAnInterruption) {
  ReconJob own = job(scan("seen.h5", kFringeArea, 0.4), Phase::kPaganin);
  own.outlier = 0.2;
  (void)run(own);
  const auto bytes = read_bytes(own.output);
  const auto threads = make_executor(3);
  own.output = folder.file("three.h5");
  (void)reconstruct_scan(own, *threads);
  EXPECT_EQ(read_bytes(own.output), bytes);
  own.output = folder.file("resumed.h5");
  own.resume = true;
  std::size_t slices = 0;
  Observer observer;
  observer.progress = [&](const char* what, std::size_t n, std::size_t) {
    if (std::string(what) == "slices") slices = n;
  };
  observer.stop_requested = [&] { return slices > 0; };
  EXPECT_EQ(thrown_by([&] { (void)reconstruct_scan(own, serial, observer); }).status,
            Status::kInterrupted);
  EXPECT_EQ(run(own).resumed, 32U);
  EXPECT_EQ(read_bytes(own.output), bytes);
  own.output = folder.file("none.h5");
  own.resume = false;
  std::size_t asked = 0;
  observer.stop_requested = [&] { return ++asked > 9; };  // among the projections
  EXPECT_EQ(thrown_by([&] { (void)reconstruct_scan(own, serial, observer); }).status,
            Status::kInterrupted);
  EXPECT_FALSE(std::filesystem::exists(own.output));
}

TEST_F(ReconPhase, FewRowsAreTheSameSlicesAndTheAxisIsFoundInThem) {
  const std::string seen = scan("seen.h5", kFringeArea);
  for (const Phase method : {Phase::kPaganin, Phase::kTomopy}) {
    const auto all = made(job(seen, method));
    ReconJob some = job(seen, method, "some.h5");
    some.first_row = 15;
    some.end_row = 19;
    const auto part = made(some);
    ASSERT_EQ(part.size(), 4 * kFringeColumns * kFringeColumns);
    const std::vector<double> same(all.begin() + 15 * kFringeColumns * kFringeColumns,
                                   all.begin() + 19 * kFringeColumns * kFringeColumns);
    EXPECT_LT(error(part, same, 30), 1e-5);
    some.centre.reset();
    some.search = AxisSearch::kTurn;
    EXPECT_NEAR(run(some).centre, 31.5, 0.1);
  }
}

TEST_F(ReconPhase, ZingersGoBeforeTheyAreSpread) {
  const auto truth = made(job(scan("plain.h5", 0), Phase::kNone));
  ReconJob own = job(scan("seen.h5", kFringeArea, 0.4), Phase::kPaganin);
  const double with_zingers = error(made(own), truth, 30);
  own.outlier = 0.2;
  EXPECT_LT(error(made(own), truth, 30), 0.3 * with_zingers);
}

TEST_F(ReconPhase, ACardRetrievesTheSame) {
  const std::string seen = scan("seen.h5", kFringeArea, 0.4);
  for (const Phase method : {Phase::kPaganin, Phase::kTomopy}) {
    ReconJob own = job(seen, method);
    own.outlier = 0.2;
    const auto want = made(own);
    own.backend = Backend::kEmulate;
    const auto got = made(own);
    EXPECT_LT(error(got, want, 30), 1e-6);
    EXPECT_NE(told.find("phases are retrieved on CPU emulation"), std::string::npos) << told;
  }
}

TEST_F(ReconPhase, ProjectionsBelowTheirDarksOrFarAboveTheirFlatsAreTold) {
  const auto told_of = [&](std::uint16_t counts, Phase phase) {
    const std::string path = folder.file("light.h5");
    const std::vector<double> theta{0, 45, 90, 135};
    {
      ScanWriter writer(path, Overwrite::kYes,
                        {.angles = 4, .rows = 2, .columns = 8, .flats = 1, .darks = 1}, theta);
      for (const std::size_t a : {0U, 1U, 2U, 3U}) {
        std::vector<std::uint16_t> frame(16, counts);
        frame[3] = 1000;
        writer.projection(a, frame);
      }
      writer.flat(0, std::vector<std::uint16_t>(16, 1100));
      writer.dark(0, std::vector<std::uint16_t>(16, 100));
      writer.commit();
    }
    run({.scan = path, .output = folder.file("v.h5"), .phase = {.method = phase}});
    return told;
  };
  for (const Phase phase : {Phase::kNone, Phase::kPaganin}) {
    EXPECT_NE(told_of(90, phase).find("60 of 64 values of projections that were looked at are not "
                                      "above their darks"),
              std::string::npos)
        << told;
    EXPECT_NE(told_of(1400, phase)
                  .find("60 of 64 values of projections that were looked at are a "
                        "quarter and more above their flats"),
              std::string::npos)
        << told;
    EXPECT_EQ(told_of(1300, phase).find("looked at"), std::string::npos) << told;
  }
}

TEST_F(ReconPhase, WhatDoesNotFitIsOneLine) {
  ReconJob own = job(scan("seen.h5", kFringeArea), Phase::kPaganin, "none.h5");
  own.input = InputKind::kIntegrals;
  EXPECT_EQ(thrown_by([&] { (void)run(own); }).status, Status::kUnsupported);
  own.input = InputKind::kCounts;
  own.phase.method = Phase::kTomopy;
  own.phase.distance_cm = 3e5;  // padded to 2^15
  own.memory = std::uint64_t{256} << 20;
  EXPECT_EQ(thrown_by([&] { (void)run(own); }).status, Status::kMemory);
  own.phase.distance_cm = 1e9;
  EXPECT_EQ(thrown_by([&] { (void)run(own); }).status, Status::kUsage);
  EXPECT_FALSE(std::filesystem::exists(own.output));
}

}  // namespace
}  // namespace tomoloom
