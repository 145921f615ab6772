// SPDX-License-Identifier: BSD-3-Clause
// Filters on their way into maps: what they take out is not there, whatever the threads, from files
// and without them.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "loom/hdf5/hdf5.hpp"
#include "loom/testing/test_executor.hpp"
#include "loom/testing/test_files.hpp"
#include "skyloom/recipes/make_maps.hpp"
#include "skyloom/recipes/test_maps.hpp"
#include "skyloom/recipes/write_observations.hpp"
#include "skyloom/tod/simulated_tod.hpp"
#include "skyloom/tod/stored_tod.hpp"

namespace skyloom {
namespace {

using loom::test::read_bytes;
using loom::test::TempFolder;
using test::ChangedTod;
using test::small_maps;
using test::small_simulation;
using test::some_sky;

/// Another source's samples with what all detectors see, a polynomial of each, and flags.
class Disturbed final : public ChangedTod {
 public:
  Disturbed(const TodSource& source, double common, double own)
      : ChangedTod(source, [=](std::size_t first, std::span<const Signal> signals) {
          for (std::size_t s = 0; s < signals.size(); ++s) {
            const auto detector = static_cast<double>(first + s);
            for (std::size_t i = 0; i < signals[s].values.size(); ++i) {
              const double t = 1e-3 * static_cast<double>(i);
              signals[s].values[i] += common * std::sin(40 * t) + own * (1 + detector * t * t);
              if (i % 11 == (first + s) % 5) signals[s].flags[i] = 1;
              if (first + s == 3) signals[s].flags[i] = i < 2 ? 0 : 1;  // too few for an order of 2
            }
          }
        }) {}
};

std::vector<double> read_all(const TodSource& source, Executor& executor) {
  const Boresight boresight = source.boresight(1);
  source.prepare(1, boresight, executor, {});
  const std::size_t samples = source.observation(1).samples;
  std::vector<double> all, values[2];
  std::vector<std::uint8_t> flags[2];
  for (std::size_t d = 0; d < source.observation(1).plane.detectors.size(); d += 2) {
    Signal signals[2];
    for (std::size_t i = 0; i < 2; ++i) {
      values[i].resize(samples);
      flags[i].resize(samples);
      signals[i] = {values[i], flags[i]};
    }
    source.read(1, boresight, d, signals);
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t k = 0; k < samples; ++k) all.push_back(flags[i][k] == 0 ? values[i][k] : 0);
    }
  }
  return all;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::fabs(a[i] - b[i]));
  return most;
}

TEST(FilteredTod, DoesNotSeeWhatItsFiltersTakeOut) {
  const SimulatedTod sky(small_simulation(), some_sky(64));
  SerialExecutor one;
  const Disturbed clean(sky, 0, 0), common(sky, 5, 0), both(sky, 5, 7);
  const FilterOptions mode{.common_mode = true}, all{.polynomial = 2, .common_mode = true};
  EXPECT_LT(largest_difference(read_all(FilteredTod(clean, mode), one),
                               read_all(FilteredTod(common, mode), one)),
            1e-13);
  // polynomials first: what is common is then theirs as well, but for what flags hide of it
  const FilterOptions order{.polynomial = 2};
  const Disturbed own(sky, 0, 7);
  const FilteredTod filtered(own, order);
  EXPECT_LT(largest_difference(read_all(FilteredTod(clean, order), one), read_all(filtered, one)),
            1e-12);
  EXPECT_EQ(filtered.failed(), 1U);  // detector 3
  EXPECT_GT(largest_difference(read_all(clean, one), read_all(FilteredTod(clean, all), one)), 0.1);
  EXPECT_GT(largest_difference(read_all(FilteredTod(both, mode), one),
                               read_all(FilteredTod(clean, mode), one)),
            1);
}

/// One observation in stretches, samples 1000 to 1099 in none.
class Stretched final : public TodSource {
 public:
  explicit Stretched(const SimulatedTod& source)
      : source_(source), observation_(source.observation(0)) {
    observation_.stretches = {{0, 700}, {700, 1000}, {1100, observation_.samples}};
  }
  [[nodiscard]] std::size_t observations() const override { return 1; }
  [[nodiscard]] const Observation& observation(std::size_t /*number*/) const override {
    return observation_;
  }
  [[nodiscard]] Boresight boresight(std::size_t number) const override {
    return source_.boresight(number);
  }
  void read(std::size_t number, const Boresight& boresight, std::size_t first,
            std::span<const Signal> signals) const override {
    source_.read(number, boresight, first, signals);
    for (const Signal& signal : signals) {
      for (std::size_t i = 0; i < observation_.samples; ++i) {
        signal.values[i] += i < 700 ? 3 : -8 + 1e-3 * static_cast<double>(i);
        if (i >= 1000 && i < 1100) signal.flags[i] = 1;
      }
    }
  }

 private:
  const SimulatedTod& source_;
  Observation observation_;
};

TEST(FilteredTod, FitsEachStretchOfAFileByItself) {
  if (!hdf5::available()) GTEST_SKIP();
  const TempFolder folder;
  SimulationOptions options = small_simulation();
  options.observations = 1;
  const SimulatedTod sky(options, some_sky(64));
  const Stretched source(sky);
  SerialExecutor one;
  const auto paths = write_observations(source, folder.file("data"), Overwrite::kNo, one);
  const StoredTod stored(paths, {.intervals = "scanning"});
  EXPECT_EQ(stored.observation(0).stretches, source.observation(0).stretches);
  MapJob job = small_maps(folder.file("direct"));
  job.filters.polynomial = 1;
  const MapSummary direct = make_maps(source, job, one);
  EXPECT_EQ(direct.flagged, 14U * 100);
  job.folder = folder.file("stored");
  const MapSummary found = make_maps(stored, job, one);
  EXPECT_EQ(found.flagged, direct.flagged);
  EXPECT_EQ(read_bytes(folder.file("direct/map.fits")), read_bytes(folder.file("stored/map.fits")));
  // the sum of samples in each stretch is 0, whatever was added to it
  std::vector<double> values(3000);
  std::vector<std::uint8_t> flags(3000);
  const Signal signal[] = {{values, flags}};
  FilteredTod(stored, job.filters).read(0, stored.boresight(0), 0, signal);
  for (const Stretch& stretch : source.observation(0).stretches) {
    double sum = 0;
    for (std::size_t i = stretch.first; i < stretch.end; ++i) sum += values[i];
    EXPECT_NEAR(sum, 0, 1e-10);
  }
}

TEST(FilteredTod, TakesTheMeanOfGoodDetectors) {
  const SimulatedTod sky(small_simulation(), some_sky(64));
  SerialExecutor one;
  const Disturbed plain(sky, 1, 1);
  const std::vector<double> found = read_all(FilteredTod(plain, {.common_mode = true}), one);
  const std::size_t n = sky.observation(1).samples;
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::size_t d = 0; d < found.size() / n; ++d) sum += found[d * n + i];
    EXPECT_NEAR(sum, 0, 1e-12) << i;
  }
}

TEST(MakeMaps, OfFilteredDataAreTheSameForAnyNumberOfThreads) {
  const TempFolder folder;
  const SimulatedTod sky(small_simulation(), some_sky(64));
  const Disturbed source(sky, 3, 5);
  SerialExecutor one;
  TestThreads three(3);
  MapJob job = small_maps(folder.file("one"));
  job.filters = {.polynomial = 2, .common_mode = true};
  const MapSummary summary = make_maps(source, job, one);
  EXPECT_EQ(summary.unfitted, 2U);  // detector 3 of both observations
  EXPECT_EQ(summary.good + summary.flagged, summary.samples);
  job.folder = folder.file("three");
  make_maps(source, job, three);
  for (const char* name : {"hits", "binned", "map"}) {
    EXPECT_EQ(read_bytes(folder.file("one/") + name + ".fits"),
              read_bytes(folder.file("three/") + name + ".fits"))
        << name;
  }
}

}  // namespace
}  // namespace skyloom
