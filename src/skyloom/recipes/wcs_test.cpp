// SPDX-License-Identifier: BSD-3-Clause
// Maps on flat grids: what is scanned is there, what lies outside is left out, files say where.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "loom/files/byte_order.hpp"
#include "loom/testing/test_executor.hpp"
#include "loom/testing/test_files.hpp"
#include "skyloom/recipes/make_maps.hpp"
#include "skyloom/recipes/test_maps.hpp"
#include "skyloom/tod/simulated_tod.hpp"

namespace skyloom {
namespace {

using loom::test::read_bytes;
using loom::test::TempFolder;
using test::small_maps;
using test::small_simulation;

/// The numbers of an image, and its header.
struct Image {
  std::string header;
  std::vector<double> values;
};

template <class T>
Image read_image(const std::string& path, std::size_t count) {
  const auto bytes = read_bytes(path);
  Image out;
  std::size_t at = 0;
  do {
    out.header.append(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                      bytes.begin() + static_cast<std::ptrdiff_t>(at + 2880));
    at += 2880;
  } while (out.header.find("END                 ") == std::string::npos);
  for (std::size_t i = 0; i < count; ++i, at += sizeof(T)) {
    out.values.push_back(
        static_cast<double>(load_be<T>(reinterpret_cast<const std::uint8_t*>(bytes.data() + at))));
  }
  return out;
}

std::shared_ptr<const SkyMap> even_sky() {
  auto sky = std::make_shared<SkyMap>();
  sky->pixels = Healpix(1);
  for (int i = 0; i < 12; ++i) sky->values.insert(sky->values.end(), {1.0F, 0.5F, -0.25F});
  return sky;
}

TEST(WcsMaps, HaveEverySampleOfTheWholeSky) {
  const TempFolder folder;
  SimulationOptions options = small_simulation();
  options.noise = false;
  SerialExecutor one;
  TestThreads three(3);
  MapJob job = small_maps(folder.file("one"));
  job.nside = MapJob().nside;
  job.wcs = wcs_grid_of("car:0,0,360,180,5");
  const SimulatedTod source(options, even_sky());
  const MapSummary summary = make_maps(source, job, one);
  EXPECT_EQ(summary.good, summary.samples);
  const Image hits = read_image<std::int32_t>(folder.file("one/hits.fits"), 72 * 36);
  double sum = 0;
  for (const double value : hits.values) sum += value;
  EXPECT_EQ(sum, static_cast<double>(summary.samples));
  EXPECT_NE(hits.header.find("RA---CAR"), std::string::npos);
  EXPECT_NE(hits.header.find("DEC--CAR"), std::string::npos);
  const std::size_t cells = 72 * 36;
  const Image map = read_image<double>(folder.file("one/map.fits"), 3 * cells);
  std::size_t seen = 0;
  for (std::size_t i = 0; i < cells; ++i) {
    if (std::isnan(map.values[i])) continue;
    ++seen;
    EXPECT_NEAR(map.values[i], 1, 1e-6);
    EXPECT_NEAR(map.values[cells + i], 0.5, 1e-6);
    EXPECT_NEAR(map.values[2 * cells + i], -0.25, 1e-6);
  }
  EXPECT_EQ(seen, summary.hit_pixels - summary.cut_pixels);
  EXPECT_GT(seen, 1500U);
  job.folder = folder.file("three");
  make_maps(source, job, three);
  EXPECT_EQ(read_bytes(folder.file("one/map.fits")), read_bytes(folder.file("three/map.fits")));
}

TEST(WcsMaps, LeaveOutWhatLiesOutside) {
  const TempFolder folder;
  SerialExecutor one;
  SimulationOptions options = small_simulation();
  options.plane.noise.fknee_hz = 0.5;
  const SimulatedTod source(options, even_sky());
  for (const MapMethod method : {MapMethod::kDestripe, MapMethod::kGls}) {
    MapJob job = small_maps(folder.file("part"));
    job.method = method;
    job.limits = {.tolerance = 1e-6, .iterations = 2000};
    job.nside = MapJob().nside;
    job.wcs = wcs_grid_of("tan:40,20,60,50,2");
    const MapSummary summary = make_maps(source, job, one);
    EXPECT_EQ(summary.good + summary.flagged, summary.samples);
    EXPECT_LT(summary.good, summary.samples / 3);
    EXPECT_GT(summary.good, summary.samples / 50);
    const Image map = read_image<double>(folder.file("part/map.fits"), 3 * 30 * 25);
    double q = 0, n = 0;
    for (std::size_t i = 0; i < 30 * 25; ++i) {
      if (std::isnan(map.values[i])) continue;
      q += map.values[30 * 25 + i];
      n += 1;
    }
    EXPECT_GT(n, 300);
    EXPECT_NEAR(q / n, 0.5, 1e-4);
    EXPECT_NE(map.header.find("RA---TAN"), std::string::npos);
  }
}

}  // namespace
}  // namespace skyloom
