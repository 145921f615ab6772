// SPDX-License-Identifier: BSD-3-Clause
// Detectors from a file: those of an observation come back, each with its own noise.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "loom/hdf5/hdf5.hpp"
#include "loom/testing/test_executor.hpp"
#include "loom/testing/test_files.hpp"
#include "skyloom/recipes/simulation.hpp"
#include "skyloom/recipes/test_maps.hpp"
#include "skyloom/recipes/write_observations.hpp"
#include "skyloom/status.hpp"
#include "skyloom/tod/focal_plane_file.hpp"
#include "skyloom/tod/simulated_tod.hpp"

namespace skyloom {
namespace {

using loom::test::TempFolder;
using loom::test::thrown_by;
using test::small_simulation;

/// A focal plane as TOAST keeps it, of two detectors: NETs with this unit noted, no uids.
void write_plane(const std::string& path, const std::string& unit, const char* second = "right") {
  using hdf5::Field;
  struct Row {
    std::array<char, 8> name = {};
    std::array<double, 4> quat = {0, 0, 0, 1};
    double net = 0;
  } rows[2];
  std::strcpy(rows[0].name.data(), "left");
  std::strcpy(rows[1].name.data(), second);
  rows[0].net = 30;
  rows[1].net = 60;
  std::vector<std::uint8_t> bytes(sizeof(rows));
  std::memcpy(bytes.data(), rows, sizeof(rows));
  const std::vector<Field> fields{{"name", hdf5::Type::kText, 8},
                                  {"quat", hdf5::Type::kFloat64, 4, true},
                                  {"psd_net", hdf5::Type::kFloat64}};
  hdf5::Writer writer(path, Overwrite::kYes);
  writer.table("focalplane", fields, 2, bytes);
  writer.texts("focalplane.__table_column_meta__",
               {"datatype:", "- {name: name, datatype: string}",
                "- {name: psd_net, unit: " + unit + ", datatype: float64}"});
  writer.commit();
}

std::vector<std::vector<double>> signals_of(const SimulationOptions& options) {
  const SimulatedTod source(options, nullptr);
  const std::size_t n = source.observation(0).samples;
  std::vector<std::vector<double>> out(source.observation(0).plane.detectors.size());
  std::vector<std::uint8_t> flags(n);
  for (std::size_t d = 0; d < out.size(); d += 2) {
    out[d].resize(n);
    out[d + 1].resize(n);
    const Signal pair[] = {{out[d], flags}, {out[d + 1], flags}};
    source.read(0, source.boresight(0), d, pair);
  }
  return out;
}

TEST(FocalPlaneFile, OfAnObservationHasItsDetectors) {
  const TempFolder folder;
  SerialExecutor one;
  SimulationOptions options = small_simulation();
  options.plane.leakage = 0.25;
  const auto paths =
      write_observations(SimulatedTod(options, nullptr), folder.file("data"), Overwrite::kNo, one);
  const FocalPlane expected = hexagon(options.plane);
  const FocalPlane found = read_focal_plane(paths.at(0), {.rate_hz = options.plane.rate_hz});
  ASSERT_EQ(found.detectors.size(), expected.detectors.size());
  EXPECT_EQ(found.rate_hz, expected.rate_hz);
  for (std::size_t i = 0; i < found.detectors.size(); ++i) {
    const Detector &a = found.detectors[i], &b = expected.detectors[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.uid, b.uid);
    EXPECT_EQ(a.gamma, b.gamma);
    EXPECT_EQ(a.leakage, b.leakage);
    EXPECT_EQ(a.noise, b.noise);
    EXPECT_NEAR(a.place.x, b.place.x, 1e-15);
    EXPECT_NEAR(a.place.w, b.place.w, 1e-15);
  }
  options.given = std::make_shared<const FocalPlane>(found);
  options.plane = {.rate_hz = options.plane.rate_hz};
  EXPECT_EQ(signals_of(options).back(), signals_of([&] {
                                          SimulationOptions plain = small_simulation();
                                          plain.plane.leakage = 0.25;
                                          return plain;
                                        }())
                                            .back());
}

TEST(FocalPlaneFile, GivesEachDetectorItsOwnNoise) {
  const TempFolder folder;
  write_plane(folder.file("plane.h5"), "uK s(1/2)");
  SimulationOptions options = small_simulation();
  options.plane.noise = {.net = 1, .fmin_hz = 1e-4, .fknee_hz = 0.1, .slope = 1.5};
  FocalPlane plane = read_focal_plane(folder.file("plane.h5"), options.plane);
  ASSERT_EQ(plane.detectors.size(), 2U);
  EXPECT_NE(plane.detectors[0].uid, plane.detectors[1].uid) << "they are those of the names";
  EXPECT_DOUBLE_EQ(plane.detectors[1].noise.net, 60e-6);
  EXPECT_EQ(plane.detectors[1].noise.slope, 1.5) << "what has no column is the options'";
  options.given = std::make_shared<const FocalPlane>(plane);
  const auto own = signals_of(options);
  plane.detectors[0].noise = plane.detectors[1].noise;
  options.given = std::make_shared<const FocalPlane>(plane);
  const auto alike = signals_of(options);
  for (std::size_t i = 0; i < own[0].size(); ++i) {
    EXPECT_NEAR(own[1][i], alike[1][i], 1e-13) << i;
    EXPECT_NEAR(2 * own[0][i], alike[0][i], 1e-9) << i;
  }
}

TEST(FocalPlaneFile, IsAskedForTheColumnsOfNoiseThatThereIsAlone) {
  const TempFolder folder;
  const std::string path = folder.file("plane.h5");
  write_plane(path, "K s(1/2)");
  SimulateJob job;
  job.simulation = small_simulation();
  job.focal_plane = path;
  job.simulation.common.by = "wafer";  // no such column, and no such noise
  EXPECT_EQ(simulation_of(job).given->detectors.size(), 2U);
  EXPECT_EQ(signals_of(simulation_of(job)).size(), 2U);
  job.simulation.common.noise.net = 1e-6;
  EXPECT_EQ(thrown_by([&] { (void)simulation_of(job); }).status, Status::kMissingKeyword);
}

TEST(FocalPlaneFile, SaysWhatIsNotGood) {
  const TempFolder folder;
  const std::string path = folder.file("plane.h5");
  write_plane(path, "Jy");
  EXPECT_EQ(thrown_by([&] { (void)read_focal_plane(path, {}); }).status, Status::kUnsupported);
  write_plane(path, "K s(1/2)", "left");
  EXPECT_EQ(thrown_by([&] { (void)read_focal_plane(path, {}); }).status, Status::kCorrupt);
  {
    hdf5::Writer writer(path, Overwrite::kYes);
    writer.group("nothing");
    writer.commit();
  }
  EXPECT_EQ(thrown_by([&] { (void)read_focal_plane(path, {}); }).status, Status::kMissingHdu);
  write_plane(path, "K s(1/2)");
  SimulationOptions options = small_simulation();
  FocalPlane plane = read_focal_plane(path, options.plane);
  plane.detectors[1].noise.net = -1;
  options.given = std::make_shared<const FocalPlane>(plane);
  EXPECT_EQ(thrown_by([&] { (void)SimulatedTod(options, nullptr); }).status, kNoiseModel);
}

}  // namespace
}  // namespace skyloom
