// SPDX-License-Identifier: BSD-3-Clause
// Scans of which some is left out, averaged, moved or weighed; beams that change; axes that are
// fitted.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <numbers>
#include <vector>

#include "tomoloom/recipes/test_recon.hpp"
#include "tomoloom/simulate/phantom.hpp"
#include "tomoloom/status.hpp"

namespace tomoloom {
namespace {

using loom::test::thrown_by;

class ReconWindow : public test::ReconCase {
 protected:
  static constexpr std::size_t kColumns = 64, kRows = 16, kAngles = 90;
  static constexpr double kMiddle = 30.6;

  /// What is done to each value of a scan of an ellipse: value(angle, row, column, integral).
  using Change = std::function<double(std::size_t, std::size_t, std::size_t, double)>;
  /// The axis' column of a projection's row.
  using Place = std::function<double(std::size_t, std::size_t)>;

  static double still(std::size_t /*angle*/, std::size_t /*row*/) { return kMiddle; }
  static double same(std::size_t /*angle*/, std::size_t /*row*/, std::size_t /*column*/,
                     double value) {
    return value;
  }
  std::string scan(const char* name, const Change& change = same, const Place& place = still,
                   std::size_t flats = 0, const std::function<double(std::size_t)>& flat = {}) {
    const std::string path = folder.file(name);
    std::vector<double> theta(kAngles), line(kColumns);
    std::vector<float> values;
    const Phantom body{{.value = 1, .u = 0.2, .v = -0.1, .semi_u = 0.5, .semi_v = 0.3},
                       {.value = 1, .u = -0.3, .v = 0.3, .semi_u = 0.1, .semi_v = 0.15}};
    for (std::size_t a = 0; a < kAngles; ++a) {
      theta[a] = 180.0 / kAngles * static_cast<double>(a);
      for (std::size_t r = 0; r < kRows; ++r) {
        const Sight sight{.columns = kColumns, .rows = kRows, .centre = place(a, r), .scale = 0.02};
        project_row(body, sight, r, theta[a] * std::numbers::pi / 180, line);
        for (std::size_t x = 0; x < kColumns; ++x) {
          values.push_back(static_cast<float>(change(a, r, x, line[x])));
        }
      }
    }
    hdf5::Writer writer(path, Overwrite::kYes);
    const auto frames = [&](const char* set, std::size_t count, std::span<const float> numbers) {
      writer.create(set, hdf5::Type::kFloat32, {count, kRows, kColumns});
      writer.write(set, 0, numbers);
    };
    frames("exchange/data", kAngles, values);
    if (flats > 0) {
      std::vector<float> light;
      for (std::size_t f = 0; f < flats; ++f) {
        light.insert(light.end(), kRows * kColumns, static_cast<float>(flat(f)));
      }
      frames("exchange/data_white", flats, light);
    }
    writer.create("exchange/theta", hdf5::Type::kFloat64, {kAngles});
    writer.write("exchange/theta", 0, std::span<const double>(theta));
    writer.commit();
    return path;
  }
  ReconJob job(const std::string& path) const {
    ReconJob out{.scan = path, .output = folder.file("volume.h5")};
    out.input = InputKind::kIntegrals;
    out.centre = kMiddle;
    return out;
  }
  std::vector<double> made(const ReconJob& how) {
    (void)run(how);
    return volume(how.output);
  }
  std::string numbers(const char* name, const std::function<double(std::size_t)>& number) const {
    std::ofstream file(folder.file(name));
    for (std::size_t a = 0; a < kAngles; ++a) file << number(a) << '\n';
    return folder.file(name);
  }
  static bool spoiled(std::size_t angle) { return angle == 17 || (angle >= 40 && angle < 43); }
};

TEST_F(ReconWindow, AnAxisAtTheEndOfWhereItIsLookedForIsTold) {
  SimulateJob scan = small();
  scan.rows = 8;
  const auto told_of = [&](double centre, AxisSearch search) {
    scan.centre = centre;
    simulate(scan);
    ReconJob job = recon(scan);
    job.centre.reset();
    job.search = search;
    run(job);
    return told;
  };
  for (const AxisSearch search : {AxisSearch::kTurn, AxisSearch::kLean, AxisSearch::kEntropy}) {
    EXPECT_NE(told_of(9, search).find("from column 16 to 48: most likely it lies elsewhere"),
              std::string::npos)
        << told;
    EXPECT_EQ(told_of(33.2, search).find("end of where"), std::string::npos) << told;
  }
}

TEST_F(ReconWindow, ProjectionsThatAreSkippedDoNoHarm) {
  const auto whole = made(job(scan("whole.h5")));
  const std::string path =
      scan("spoiled.h5", [](std::size_t a, std::size_t, std::size_t x, double value) {
        return spoiled(a) ? 3 + 0.1 * static_cast<double>(x % 7) : value;
      });
  EXPECT_GT(error(made(job(path)), whole, 28), 0.2);
  ReconJob skipping = job(path);
  skipping.window.skipped = {{17, 18}, {40, 43}};
  const auto skipped = made(skipping);
  EXPECT_LT(error(skipped, whole, 28), 0.03);
  // a weight of 0 is the same
  ReconJob weighing = job(path);
  weighing.weights = numbers("weights.txt", [](std::size_t a) { return spoiled(a) ? 0.0 : 2.0; });
  EXPECT_LT(error(made(weighing), skipped, 28), 1e-5);
  for (ReconJob* each : {&skipping, &weighing}) {
    each->method = Method::kCgls;
    each->iterations = 4;
  }
  EXPECT_LT(error(made(weighing), made(skipping), 28), 1e-4);
  skipping.window.skipped = {{0, kAngles}};
  EXPECT_EQ(thrown_by([&] { (void)run(skipping); }).status, kSliceRange);
}

TEST_F(ReconWindow, ProjectionsAreMovedBack) {
  const auto whole = made(job(scan("whole.h5")));
  const auto off = [](std::size_t a) { return 1.5 * std::sin(static_cast<double>(a * a)); };
  const std::string path =
      scan("moved.h5", same, [&](std::size_t a, std::size_t) { return kMiddle + off(a); });
  EXPECT_GT(error(made(job(path)), whole, 28), 0.05);
  ReconJob back = job(path);
  back.shifts = numbers("shifts.txt", [&](std::size_t a) { return -off(a); });
  EXPECT_LT(error(made(back), whole, 28), 0.02);
  back.shifts = folder.file("short.txt");
  std::ofstream(back.shifts) << "1 2 3\n";
  EXPECT_EQ(thrown_by([&] { (void)run(back); }).status, kScanMismatch);
}

TEST_F(ReconWindow, PixelsAveragedTogetherKeepValuesAndPlaces) {
  const auto whole = made(job(scan("whole.h5")));
  ReconJob coarse = job(folder.file("whole.h5"));
  coarse.window.bin = 2;
  coarse.first_row = 4;
  coarse.end_row = 12;
  const ReconSummary summary = run(coarse);
  EXPECT_NEAR(summary.axis(), kMiddle, 1e-12);
  EXPECT_EQ(summary.width, kColumns / 2);
  EXPECT_EQ(hdf5::Reader(coarse.output).read("exchange/row"), (std::vector<double>{4, 6, 8, 10}));
  const auto slices = volume(coarse.output);
  double apart = 0, all = 0;
  const std::size_t n = kColumns, half = n / 2;
  for (std::size_t y = 4; y < half - 4; ++y) {
    for (std::size_t x = 4; x < half - 4; ++x) {
      const std::size_t at = 4 * n * n + 2 * y * n + 2 * x;
      const double mean = (whole[at] + whole[at + 1] + whole[at + n] + whole[at + n + 1]) / 4;
      apart += std::pow(slices[y * half + x] - mean, 2);
      all += mean * mean;
    }
  }
  EXPECT_LT(std::sqrt(apart / all), 0.12);
}

TEST_F(ReconWindow, TheMiddleStaysThatOfTheDetectorsRow) {
  SimulateJob scan = small();
  scan.columns = 63;
  simulate(scan);
  ReconJob job = recon(scan);
  for (const std::size_t bin : {1U, 2U, 4U, 5U}) {  // some columns are left out at the end
    job.window.bin = bin;
    EXPECT_NEAR(run(job).axis(), 31, 1e-9) << bin;
  }
  job.window = {.first_column = 2, .end_column = 53, .bin = 4};
  EXPECT_NEAR(run(job).axis(), 27, 1e-9);  // of what is left of it
}

TEST_F(ReconWindow, ColumnsOfTheDetectorKeepTheirNumbers) {
  const auto whole = made(job(scan("whole.h5")));
  ReconJob part = job(folder.file("whole.h5"));
  part.window.first_column = 1;
  part.window.end_column = 61;
  EXPECT_EQ(run(part).width, 60U);
  // the axis is in the middle of both slices, 2 pixels from either edge to the other's
  const auto slices = volume(part.output);
  for (std::size_t y = 5; y < 55; y += 7) {
    for (std::size_t x = 5; x < 55; x += 3) {
      EXPECT_NEAR(slices[y * 60 + x], whole[(y + 2) * kColumns + x + 2], 2e-4);
    }
  }
  part.window.end_column = 65;
  EXPECT_EQ(thrown_by([&] { (void)run(part); }).status, kSliceRange);
  part.window.end_column = 40;
  part.centre = 45;
  EXPECT_EQ(thrown_by([&] { (void)run(part); }).status, kCentreRange);
}

TEST_F(ReconWindow, EachProjectionHasTheNearestFlats) {
  const auto whole = made(job(scan("whole.h5")));
  const auto light = [](std::size_t a) { return a < 45 ? 1000.0 : 1400.0; };
  const std::string path = scan(
      "counts.h5",
      [&](std::size_t a, std::size_t, std::size_t, double value) {
        return light(a) * std::exp(-value);
      },
      still, 4, [](std::size_t f) { return f < 2 ? 1000.0 : 1400.0; });
  ReconJob counts = job(path);
  counts.input = InputKind::kCounts;
  EXPECT_GT(error(made(counts), whole, 28), 0.02);
  counts.flats_at = {0, kAngles};
  EXPECT_LT(error(made(counts), whole, 28), 1e-4);
  counts.phase = {.method = Phase::kPaganin, .distance_cm = 0};  // the other way to the flats
  EXPECT_LT(error(made(counts), whole, 28), 1e-4);
  counts.flats_at = {0, 30, 60};
  EXPECT_EQ(thrown_by([&] { (void)run(counts); }).status, kScanMismatch);
}

TEST_F(ReconWindow, TheAirTellsHowTheBeamChanges) {
  const auto whole = made(job(scan("whole.h5")));
  const std::string path =
      scan("beam.h5", [](std::size_t a, std::size_t r, std::size_t x, double value) {
        const double fall = 1 - 0.4 * static_cast<double>(a) / kAngles;
        return fall * (1 + 0.002 * static_cast<double>(r * x)) * std::exp(-value);
      });
  ReconJob how = job(path);
  how.input = InputKind::kTransmissions;
  EXPECT_GT(error(made(how), whole, 28), 0.1);
  how.air = 1;
  EXPECT_LT(error(made(how), whole, 28), 1e-3);
  how.input = InputKind::kIntegrals;
  EXPECT_EQ(thrown_by([&] { (void)run(how); }).status, Status::kUnsupported);
}

TEST_F(ReconWindow, ALeaningAxisIsFitted) {
  const auto leaning = [](std::size_t, std::size_t r) {
    return 29 + 4 * static_cast<double>(r) / (kRows - 1);
  };
  ReconJob how = job(scan("leaning.h5", same, leaning));
  how.centre.reset();
  how.search = AxisSearch::kLean;
  EXPECT_NEAR(run(how).axis(), 31, 0.1);
  const auto fitted = volume(how.output);
  EXPECT_NEAR(std::stod(hdf5::Reader(how.output).text("process/tomoloom/axis_lean").value_or("0")),
              4, 0.2);
  how.first_row = 6;
  how.end_row = 9;  // too few to tell how it leans
  EXPECT_EQ(thrown_by([&] { (void)run(how); }).status, Status::kUnsupported);
  how.first_row = 0;
  how.end_row.reset();
  how.search = AxisSearch::kNone;
  how.centre = 29;
  how.centre_last = 33;
  EXPECT_LT(error(fitted, made(how), 28), 0.01);
}

TEST_F(ReconWindow, TheAxisIsWhereASliceHasTheFewestValues) {
  ReconJob how = job(scan("whole.h5"));
  how.centre.reset();
  how.search = AxisSearch::kEntropy;
  EXPECT_NEAR(run(how).axis(), kMiddle, 0.3);
}

TEST_F(ReconWindow, EachRowMayHaveAnAxisOfItsOwn) {
  const auto wanders = [](std::size_t, std::size_t r) {
    return kMiddle + 2 * std::sin(static_cast<double>(r));
  };
  const auto write = [&](std::size_t rows) {
    std::ofstream file(folder.file("centers.txt"));
    for (std::size_t r = 0; r < rows; ++r) file << print("%.17g\n", wanders(0, r));
  };
  const auto upright = made(job(scan("upright.h5")));
  ReconJob how = job(scan("wanders.h5", same, wanders));
  EXPECT_GT(error(made(how), upright, 28), 0.05);
  how.centres = folder.file("centers.txt");
  write(kRows);
  EXPECT_EQ(thrown_by([&] { (void)run(how); }).status, Status::kUnsupported);  // --center too
  how.centre.reset();
  // all are brought half way between the outermost
  double least = kColumns, most = 0;
  for (std::size_t r = 0; r < kRows; ++r) {
    least = std::min(least, wanders(0, r));
    most = std::max(most, wanders(0, r));
  }
  EXPECT_NEAR(run(how).axis(), (least + most) / 2, 1e-9);
  EXPECT_LT(error(made(how), upright, 28), 0.02);
  write(kRows - 1);
  EXPECT_EQ(thrown_by([&] { (void)run(how); }).status, kScanMismatch);
  std::ofstream(how.centres) << print("%zu\n", kColumns);
  for (std::size_t r = 1; r < kRows; ++r) std::ofstream(how.centres, std::ios::app) << "31\n";
  EXPECT_EQ(thrown_by([&] { (void)run(how); }).status, kCentreRange);
}

}  // namespace
}  // namespace tomoloom
