// SPDX-License-Identifier: BSD-3-Clause
// Templates fitted together on their way into maps, and the matrix that does the same to a sky.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "loom/testing/test_executor.hpp"
#include "loom/testing/test_files.hpp"
#include "loom/testing/thread_ranks.hpp"
#include "skyloom/recipes/make_maps.hpp"
#include "skyloom/recipes/obs_matrix.hpp"
#include "skyloom/recipes/solve_maps.hpp"
#include "skyloom/recipes/test_maps.hpp"
#include "skyloom/status.hpp"

namespace skyloom {
namespace {

using loom::test::read_bytes;
using loom::test::TempFolder;
using loom::test::thrown_by;
using test::ChangedTod;
using test::small_maps;
using test::small_simulation;
using test::some_sky;

SimulationOptions turning_simulation() {
  SimulationOptions options = small_simulation();
  options.scan.plate_rpm = 20;
  options.noise = false;
  options.observation_minutes = 5;
  return options;
}

/// Sweeps in azimuth, which are stretches, and flags of each detector's own.
class Swept final : public ChangedTod {
 public:
  explicit Swept(const TodSource& source)
      : ChangedTod(source, [](std::size_t first, std::span<const Signal> signals) {
          for (std::size_t s = 0; s < signals.size(); ++s) {
            for (std::size_t i = 0; i < signals[s].flags.size(); ++i) {
              const bool own = first + s < 3 && i % (7 + first + s) == 0;
              if (own || (i >= 700 && i < 720)) signals[s].flags[i] = 1;
              if (first + s == 5 && i < 350) signals[s].flags[i] = 1;
            }
          }
        }) {
    auto moved = std::make_shared<GroundMotion>();
    for (std::size_t i = 0; i < source.observation(0).samples; ++i) {
      const double t = std::fmod(static_cast<double>(i), 700.0) / 350;
      moved->azimuth.push_back(1 + 0.3 * (t < 1 ? t : 2 - t));
    }
    motion_ = moved;
    for (std::size_t o = 0; o < source.observations(); ++o) {
      observations_.push_back(source.observation(o));
      observations_.back().stretches = {{0, 350}, {350, 700}, {720, 1050}, {1050, 1500}};
    }
  }
  [[nodiscard]] const Observation& observation(std::size_t number) const override {
    return observations_[number];
  }
  [[nodiscard]] std::shared_ptr<const GroundMotion> motion(std::size_t /*number*/) const override {
    return motion_;
  }

 private:
  std::shared_ptr<const GroundMotion> motion_;
  std::vector<Observation> observations_;
};

MapJob joint_maps(const std::string& folder) {
  MapJob job = small_maps(folder);
  job.binned_only = true;
  job.filters.joint.on = true;
  return job;
}

/// Two columns that have nothing to do with a sky.
std::shared_ptr<const TemplateMap> some_templates() {
  auto out = std::make_shared<TemplateMap>();
  out->pixels = Healpix(8);
  out->columns.resize(2);
  for (std::size_t i = 0; i < static_cast<std::size_t>(out->pixels.pixels()); ++i) {
    out->columns[0].push_back(static_cast<float>(std::cos(0.9 * static_cast<double>(i))));
    out->columns[1].push_back(static_cast<float>(1e-4 * static_cast<double>(i % 17)));
  }
  return out;
}

constexpr std::size_t kDeprojects = 5;  ///< which of filters()

std::vector<FilterOptions> filters() {
  std::vector<FilterOptions> out(6);
  out[0].polynomial = 2;
  out[1].polynomial = 1;
  out[1].ground.bin_deg = 3;
  out[1].plate.harmonics = 3;
  out[2].ground = {.order = 3, .split = true};
  out[2].plate = {.harmonics = 2, .drift = true};
  out[3].polynomial = 0;
  out[3].ground.order = 4;
  out[4].polynomial = 1;
  out[4].ground = {.bin_deg = 4, .drift = 1};
  out[4].ground_step_s = 100;
  out[kDeprojects].polynomial = 1;
  out[kDeprojects].plate.harmonics = 2;
  out[kDeprojects].deproject = some_templates();
  for (FilterOptions& each : out) each.joint.on = true;
  return out;
}

/// A row's entries times a map of all the sky.
double times(const SparseMatrix& matrix, std::size_t row, const std::vector<double>& sky) {
  double sum = 0;
  for (auto k = static_cast<std::size_t>(matrix.starts[row]);
       k < static_cast<std::size_t>(matrix.starts[row + 1]); ++k) {
    sum += matrix.values[k] * sky[static_cast<std::size_t>(matrix.columns[k])];
  }
  return sum;
}

/// [I, then Q, then U][pixel of the sky].
std::vector<double> columns_of(const SkyMap& sky) {
  const std::size_t n = sky.values.size() / 3;
  std::vector<double> out(3 * n);
  for (std::size_t i = 0; i < 3 * n; ++i) out[i % 3 * n + i / 3] = double{sky.values[i]};
  return out;
}

TEST(ObservationMatrix, MakesTheFilteredMapOfASky) {
  const auto sky = some_sky(16);
  const SimulatedTod clean(turning_simulation(), sky);
  const Swept source(clean);
  SerialExecutor one;
  const std::vector<double> seen = columns_of(*sky);
  const std::size_t n = seen.size() / 3;
  for (const FilterOptions& each : filters()) {
    MapJob job = joint_maps("");
    job.filters = each;
    job.obs_matrix = "wanted";
    const auto maps = solve_maps(source, job, one);
    const TileMaps tiles = maps->system->maps(nullptr, one);
    const SparseMatrix matrix = observation_matrix(maps->matrix, job, one, {});
    job.obs_matrix_weighted = true;
    const SparseMatrix weighted = observation_matrix(maps->matrix, job, one, {});
    ASSERT_EQ(matrix.size, 3 * n);
    double most = 0, size = 0, most_weighted = 0, size_weighted = 0;
    std::size_t compared = 0;
    for (std::size_t h = 0; h < tiles.size(); ++h) {
      const auto tile = static_cast<std::size_t>(maps->system->hit_tiles()[h]);
      const auto pixels = maps->sums.whole.tile(tile);
      for (std::size_t p = 0; p < pixels.size(); ++p) {
        const auto at =
            static_cast<std::size_t>(maps->sums.whole.tiles().pixel(tile, pixels[p].place));
        const double found[] = {tiles[h][p].i, tiles[h][p].q, tiles[h][p].u};
        const Stokes& sums = pixels[p].signal;
        const double summed[] = {sums.i, sums.q, sums.u};
        for (std::size_t k = 0; k < 3; ++k) {
          const double product = times(weighted, k * n + at, seen);
          most_weighted = std::max(most_weighted, std::fabs(product - summed[k]));
          size_weighted = std::max(size_weighted, std::fabs(summed[k]));
          if (std::isnan(found[k])) {
            EXPECT_EQ(matrix.starts[k * n + at], matrix.starts[k * n + at + 1]);
            continue;
          }
          ++compared;
          most = std::max(most, std::fabs(times(matrix, k * n + at, seen) - found[k]));
          size = std::max(size, std::fabs(found[k]));
        }
      }
    }
    EXPECT_GT(compared, 500U);
    EXPECT_LT(most / size, 1e-10);
    EXPECT_LT(most_weighted / size_weighted, 1e-12);
  }
}

TEST(MakeMaps, OfTemplatesFittedTogetherAreTheSameForAnyNumberOfThreads) {
  const TempFolder folder;
  SimulationOptions noisy = turning_simulation();
  noisy.noise = true;
  const SimulatedTod sky(noisy, some_sky(64));
  const Swept source(sky);
  SerialExecutor one;
  TestThreads three(3);
  for (const FilterOptions& each : filters()) {
    MapJob job = joint_maps(folder.file("one"));
    job.filters = each;
    job.filters.deglitch.sigmas = 6;
    job.obs_matrix = folder.file("one/matrix.npz");
    make_maps(source, job, one);
    job.folder = folder.file("three");
    job.obs_matrix = folder.file("three/matrix.npz");
    make_maps(source, job, three);
    for (const char* name : {"hits.fits", "binned.fits", "matrix.npz"}) {
      EXPECT_EQ(read_bytes(folder.file("one/") + name), read_bytes(folder.file("three/") + name))
          << name;
    }
  }
}

TEST(ObservationMatrix, OnRanksIsThatOfOneProcess) {
  const TempFolder folder;
  const SimulatedTod sky(turning_simulation(), some_sky(16));
  const Swept source(sky);
  SerialExecutor one;
  for (const std::size_t which : {std::size_t{1}, kDeprojects}) {
    MapJob job = joint_maps(folder.file("alone"));
    job.filters = filters()[which];
    job.obs_matrix = folder.file("alone.npz");
    make_maps(source, job, one);
    job.folder = folder.file("ranks");
    job.obs_matrix = folder.file("ranks.npz");
    ThreadRanks::World world(3);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 3; ++rank) {
      threads.emplace_back([&, rank] {
        ThreadRanks own(world, rank);
        RankCompany company(own);
        SerialExecutor mine;
        make_maps(source, job, mine, {}, &company);
        own.finish();
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(read_bytes(folder.file("alone.npz")), read_bytes(folder.file("ranks.npz")));
  }
}

/// A sky of I that leaks into all detectors, each with its own gain, and nothing else: of that no
/// map has anything, by a file as by what is in memory.
TEST(MakeMaps, DeprojectionTakesOutWhatDetectorsSeeOfAMap) {
  const TempFolder folder;
  auto sky = std::make_shared<SkyMap>(*some_sky(16));
  for (std::size_t i = 0; i < sky->values.size(); ++i) {
    if (i % 3 != 0) sky->values[i] = 0;
  }
  const SimulatedTod clean(turning_simulation(), sky);
  const ChangedTod source(clean, [](std::size_t first, std::span<const Signal> signals) {
    for (std::size_t s = 0; s < signals.size(); ++s) {
      for (double& value : signals[s].values) {
        value = 3 + value * (1 + 0.2 * static_cast<double>(first + s));
      }
    }
  });
  const std::string path = folder.file("sky.fits");
  write_map(path, Overwrite::kYes, sky->pixels,
            {.columns = {"I", "X"}, .ordering = Ordering::kRing}, [&](Pixel pixel, double* out) {
              out[0] = double{sky->values[3 * static_cast<std::size_t>(pixel)]};
              out[1] = 7;
            });
  SerialExecutor one;
  MapJob job = joint_maps("");
  job.filters.polynomial = 0;
  const auto rms = [&] {
    const auto maps = solve_maps(source, job, one);
    double sum = 0, count = 0;
    for (const auto& tile : maps->system->maps(nullptr, one)) {
      for (const Stokes& value : tile) {
        if (std::isnan(value.i)) continue;
        sum += value.i * value.i + value.q * value.q + value.u * value.u;
        ++count;
      }
    }
    return std::sqrt(sum / count);
  };
  EXPECT_GT(rms(), 0.3);
  job.deproject = path;
  EXPECT_LT(rms(), 1e-10);
  const TemplateMap read = read_template_map(path, 2);
  EXPECT_EQ(read.columns[1][5], 7.0F);
  job.deproject = {};
  job.filters.deproject = std::make_shared<const TemplateMap>(read_template_map(path, 1));
  EXPECT_LT(rms(), 1e-10);
  EXPECT_EQ(thrown_by([&] { (void)read_template_map(path, 3); }).status, Status::kWrongShape);
}

TEST(ObservationMatrix, WeightedHasRowsOfPixelsThatAreCut) {
  const TempFolder folder;
  const SimulatedTod sky(turning_simulation(), some_sky(16));
  const Swept source(sky);
  SerialExecutor one;
  MapJob job = joint_maps(folder.file("some"));
  job.filters = filters()[0];
  job.obs_matrix = folder.file("some.npz");
  job.obs_matrix_weighted = true;
  make_maps(source, job, one);
  job.folder = folder.file("none");
  job.obs_matrix = folder.file("none.npz");
  job.solve.least_reciprocal = 0.5;  // more than any pixel has
  std::vector<std::string> said;
  Observer listener;
  listener.message = [&](LogLevel level, const std::string& text) {
    if (level == LogLevel::kWarning) said.push_back(text);
  };

  const MapSummary summary = make_maps(source, job, one, listener);

  EXPECT_GT(summary.hit_pixels, 0U);
  EXPECT_EQ(summary.cut_pixels, summary.hit_pixels);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("no pixel is seen at enough angles"), std::string::npos) << said[0];
  EXPECT_EQ(read_bytes(folder.file("some.npz")), read_bytes(folder.file("none.npz")));
  EXPECT_EQ(read_bytes(folder.file("some/hits.fits")), read_bytes(folder.file("none/hits.fits")));
  job.binned_only = false;
  EXPECT_TRUE(thrown_by([&] { make_maps(source, job, one); }).says("--binned-only"));
  job.binned_only = true;
  job.obs_matrix_weighted = false;
  EXPECT_EQ(thrown_by([&] { make_maps(source, job, one); }).status, kNoGoodData);
}

TEST(ObservationMatrix, IsPlannedBeforeASampleIsRead) {
  const TempFolder folder;
  const SimulatedTod sky(turning_simulation(), some_sky(16));
  const Swept source(sky);
  SerialExecutor one;
  MapJob job = joint_maps(folder.file("maps"));
  job.filters = filters()[1];
  job.obs_matrix = folder.file("m.npz");
  const MatrixPlan plan = plan_matrix(source, job);
  const auto maps = solve_maps(source, job, one);
  double streams = 0;
  for (const StreamMatrix& of : maps->matrix) {
    for (const PixelFactor& factor : of.factors) {
      streams += static_cast<double>(factor.rows.size() * 8 + factor.pixels.size() * 4);
    }
  }
  const SparseMatrix matrix = observation_matrix(maps->matrix, job, one, {});
  EXPECT_GT(plan.streams, streams);
  EXPECT_LT(plan.streams, 4 * streams);
  EXPECT_GT(plan.matrix, 12 * static_cast<double>(matrix.values.size()));
  EXPECT_LT(plan.matrix, 48 * static_cast<double>(matrix.values.size()));
  job.memory = 1;
  EXPECT_EQ(thrown_by([&] { make_maps(source, job, one); }).status, Status::kMemory);
  EXPECT_EQ(thrown_by([&] { check_matrix_fits({.matrix = 1e18}, 1); }).status, Status::kMemory);
  EXPECT_EQ(folder.count(), 0U);
}

TEST(ObservationMatrix, HasNoColumnForWhatLiesOutsideAGrid) {
  const SimulatedTod sky(turning_simulation(), some_sky(16));
  const Swept source(sky);
  SerialExecutor one;
  MapJob job = joint_maps("");
  job.filters = filters()[0];
  job.obs_matrix = "m.npz";
  job.nside = MapJob().nside;
  job.wcs = wcs_grid_of("car:0,0,40,40,2");
  const auto thrown = thrown_by([&] { (void)solve_maps(source, job, one); });
  EXPECT_EQ(thrown.status, Status::kUsage);
  EXPECT_TRUE(thrown.says("outside --wcs"));
}

}  // namespace
}  // namespace skyloom
