// SPDX-License-Identifier: BSD-3-Clause
// A half-wave plate on its way into maps: what it adds, filters of that, demodulated streams.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "loom/testing/test_executor.hpp"
#include "loom/testing/test_files.hpp"
#include "skyloom/pointing/angle.hpp"
#include "skyloom/recipes/make_maps.hpp"
#include "skyloom/recipes/solve_maps.hpp"
#include "skyloom/recipes/test_maps.hpp"
#include "skyloom/status.hpp"
#include "skyloom/tod/demodulated_tod.hpp"
#include "skyloom/tod/simulated_tod.hpp"

namespace skyloom {
namespace {

using loom::test::read_bytes;
using loom::test::TempFolder;
using loom::test::thrown_by;
using test::ChangedTod;
using test::samples_of;
using test::small_maps;
using test::small_simulation;
using test::some_sky;

/// Two observations of 10 minutes at 20 Hz, 14 detectors behind a plate that turns once a second.
SimulationOptions plate_simulation() {
  SimulationOptions options = small_simulation();
  options.plane.rate_hz = 20;
  options.scan.plate_rpm = 60;
  options.noise = false;
  return options;
}

double rms_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum / static_cast<double>(values.size()));
}

/// I, Q, U of pixels that were hit and not cut, and what a sky has there.
struct Compared {
  std::vector<double> found[3], wanted[3];
  [[nodiscard]] double worst(int stokes) const {
    double most = 0;
    for (std::size_t i = 0; i < found[stokes].size(); ++i) {
      most = std::max(most, std::fabs(found[stokes][i] - wanted[stokes][i]));
    }
    return most;
  }
  [[nodiscard]] double rms(int stokes) const {
    std::vector<double> difference = found[stokes];
    for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= wanted[stokes][i];
    return rms_of(difference);
  }
};

/// Of pixels no nearer to a pole than this.
Compared map_beside(const TodSource& source, const MapJob& job, const SkyMap& sky,
                    double least_deg = 0) {
  SerialExecutor one;
  const auto maps = solve_maps(source, job, one);
  const TileMaps tiles = maps->system->maps(job.binned_only ? nullptr : &maps->solution.x, one);
  Compared out;
  for (std::size_t h = 0; h < tiles.size(); ++h) {
    const auto tile = static_cast<std::size_t>(maps->system->hit_tiles()[h]);
    const auto pixels = maps->sums.whole.tile(tile);
    for (std::size_t p = 0; p < pixels.size(); ++p) {
      const Stokes& value = tiles[h][p];
      if (std::isnan(value.i)) continue;
      const auto pixel =
          static_cast<std::size_t>(maps->sums.whole.tiles().pixel(tile, pixels[p].place));
      const double height = std::fabs(sky.pixels.centre(static_cast<Pixel>(pixel)).z);
      if (height > std::cos(least_deg * kDegree)) continue;
      const double three[] = {value.i, value.q, value.u};
      for (std::size_t k = 0; k < 3; ++k) {
        out.found[k].push_back(three[k]);
        out.wanted[k].push_back(double{sky.values[3 * pixel + k]});
      }
    }
  }
  return out;
}

std::shared_ptr<const SkyMap> even_sky(float i, float q, float u) {
  auto sky = std::make_shared<SkyMap>();
  sky->pixels = Healpix(16);
  for (std::int64_t p = 0; p < sky->pixels.pixels(); ++p) {
    for (const float value : {i, q, u}) sky->values.push_back(value);
  }
  return sky;
}

MapJob binned_maps() {
  MapJob job = small_maps("");
  job.binned_only = true;
  return job;
}

TEST(PlateSignal, GoesWithTheAngleAndIsEachDetectorsOwn) {
  SimulationOptions options = plate_simulation();
  options.plate = {.amplitudes_k = {0, 0.3, 0, 0.04}};
  const SimulatedTod source(options, nullptr);
  const std::vector<double> one = samples_of(source, 0, 0), other = samples_of(source, 0, 1);
  EXPECT_NEAR(rms_of(one), std::sqrt((0.09 + 0.0016) / 2), 1e-9);  // whole turns
  EXPECT_NEAR(rms_of(other), rms_of(one), 1e-9);
  const std::vector<double> later = samples_of(source, 1, 0);
  double apart = 0, between = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    apart = std::max(apart, std::fabs(one[i] - later[i]));  // both begin at the angle 0
    between = std::max(between, std::fabs(one[i] - other[i]));
  }
  EXPECT_LT(apart, 1e-9);
  EXPECT_GT(between, 0.01);
  EXPECT_EQ(one, samples_of(SimulatedTod(options, nullptr), 0, 0));
  options.realization = 1;
  EXPECT_NE(one, samples_of(SimulatedTod(options, nullptr), 0, 0));
}

TEST(PlateSignal, DriftsAndSpreadsAsItIsAsked) {
  SimulationOptions options = plate_simulation();
  options.plane.pixels = 61;
  options.observations = 1;
  options.observation_minutes = 1;
  options.plate = {.amplitudes_k = {0, 0.3}, .spread = 0.1, .drift = 0.02};
  const SimulatedTod source(options, nullptr);
  std::vector<double> spreads, drifts;
  for (std::size_t d = 0; d < 122; ++d) {
    const std::vector<double> samples = samples_of(source, 0, d);
    const double at_first = rms_of({samples.data(), 20}), at_last = rms_of({&samples[1180], 20});
    spreads.push_back(at_first / (0.3 / std::sqrt(2)) - 1);
    drifts.push_back((at_last - at_first) / (0.3 / std::sqrt(2)));
  }
  const double most = 5 / std::sqrt(2 * 122.0);  // of an rms of so many numbers, relative
  EXPECT_NEAR(rms_of(spreads), 0.1, 0.1 * most);
  EXPECT_NEAR(rms_of(drifts), 0.02, 0.02 * most);
}

TEST(PlateFilter, MapsTheSkyAsIfThePlateAddedNothing) {
  const auto sky = some_sky(16);
  SimulationOptions options = plate_simulation();
  const SimulatedTod clean(options, sky);
  options.plate = {.amplitudes_k = {1, 100, 0, 10}, .spread = 0.2, .drift = 0.1};
  const SimulatedTod seen(options, sky);
  MapJob job = binned_maps();
  EXPECT_GT(map_beside(seen, job, *sky).rms(1), 0.1);
  job.filters.plate = {.harmonics = 4, .drift = true};
  const Compared without = map_beside(clean, job, *sky), with = map_beside(seen, job, *sky);
  ASSERT_GT(with.found[0].size(), 1000U);
  for (int k = 0; k < 3; ++k) {
    double most = 0;
    for (std::size_t i = 0; i < with.found[k].size(); ++i) {
      most = std::max(most, std::fabs(with.found[k][i] - without.found[k][i]));
    }
    EXPECT_LT(most, 100 * 1e-12) << k;
    // 16 templates take the sky's share in them, of 12000 samples
    EXPECT_LT(with.rms(k), std::sqrt(16 / 12000.0)) << k;
    EXPECT_GT(with.rms(k), 1e-6) << k;
  }
}

TEST(PlateFilter, FindsGlitchesThatThePlatesSignalWouldHide) {
  SimulationOptions options = plate_simulation();
  options.noise = true;
  options.glitches = {.per_hour = 100, .height_k = 0.05, .decay_s = 0};
  const SimulatedTod clean(options, nullptr);
  options.plate = {.amplitudes_k = {0, 1}};
  const SimulatedTod seen(options, nullptr);
  MapJob job = binned_maps();
  job.filters = {.deglitch = {.sigmas = 6}, .plate = {.harmonics = 2}};
  SerialExecutor one;
  const std::size_t wanted = solve_maps(clean, job, one)->summary.glitches;
  EXPECT_EQ(solve_maps(seen, job, one)->summary.glitches, wanted);
  EXPECT_GT(wanted, 1000U);
  job.filters.plate = {};
  EXPECT_LT(solve_maps(seen, job, one)->summary.glitches, wanted / 10);
}

TEST(DemodulatedTod, MapsAKnownSky) {
  const auto sky = even_sky(1, 0.3F, -0.2F);
  SimulationOptions options = plate_simulation();
  options.plane.leakage = 0.1;
  options.plate = {.amplitudes_k = {2, 50, 1}};
  const SimulatedTod source(options, sky);
  MapJob job = binned_maps();
  job.filters.plate = {.harmonics = 3};
  job.demodulation.on = true;
  for (const bool binned : {true, false}) {
    job.binned_only = binned;
    job.step_s = 60;
    // at a pole it is the sky that turns fast, where the meridian does
    const Compared found = map_beside(source, job, *sky, 25);
    ASSERT_GT(found.found[0].size(), 1000U);
    // the pass band is even to two thousandths, and the plate turns fast against the sky's turn
    if (binned) {  // offsets leave the mean of I open
      EXPECT_LT(found.worst(0), 4e-3);
    }
    EXPECT_LT(found.worst(1), 4e-3) << binned;
    EXPECT_LT(found.worst(2), 4e-3) << binned;
  }
}

TEST(DemodulatedTod, KeepsWhatIsSlowOutOfPolarisation) {
  const auto sky = even_sky(0, 0.3F, -0.2F);
  const SimulatedTod clean(plate_simulation(), sky);
  const ChangedTod drifts(clean, [](std::size_t first, std::span<const Signal> signals) {
    for (std::size_t s = 0; s < signals.size(); ++s) {
      const auto detector = static_cast<double>(first + s);
      for (std::size_t i = 0; i < signals[s].values.size(); ++i) {
        const double t = 0.05 * static_cast<double>(i);
        signals[s].values[i] +=
            100 + 20 * std::sin(0.31 * t + detector) + 10 * std::cos(1.3 * t - detector);
      }
    }
  });
  MapJob job = binned_maps();
  const double plain = map_beside(drifts, job, *sky).rms(1);
  job.demodulation.on = true;
  const double demodulated = map_beside(drifts, job, *sky).rms(1);
  EXPECT_LT(demodulated, 4e-3);
  EXPECT_GT(plain, 20 * demodulated);
}

TEST(DemodulatedTod, DoesNotSeeWhatIsFlagged) {
  const auto some = some_sky(16);
  const SimulatedTod sky(plate_simulation(), some);
  const auto with = [&](double garbage) {
    return ChangedTod(sky, [=](std::size_t first, std::span<const Signal> signals) {
      for (std::size_t s = 0; s < signals.size(); ++s) {
        for (std::size_t i = 0; i < signals[s].values.size(); ++i) {
          const bool gap = i % 501 == first + s || (i > 4000 && i < 4300);
          if (!gap) continue;
          signals[s].values[i] = garbage;
          if (i % 2 == 0 || std::isfinite(garbage)) signals[s].flags[i] = 1;
        }
      }
    });
  };
  MapJob job = binned_maps();
  job.demodulation.on = true;
  const ChangedTod zeros = with(0), large = with(1e20), none = with(NAN);
  const SkyMap& wanted = *some;
  const Compared a = map_beside(zeros, job, wanted);
  EXPECT_EQ(a.found[1], map_beside(large, job, wanted).found[1]);
  EXPECT_EQ(a.found[1], map_beside(none, job, wanted).found[1]);
  SerialExecutor one;
  const auto counts = solve_maps(zeros, job, one);
  const auto whole = solve_maps(sky, job, one);
  EXPECT_EQ(counts->summary.samples, whole->summary.samples);
  // three streams of 14 detectors and 2 observations lose 300 samples and less than half a turn
  // on either side; gaps of one sample are nothing
  const std::size_t lost = counts->summary.flagged - whole->summary.flagged;
  EXPECT_GE(lost, 3U * 28 * 298 / 3);
  EXPECT_LT(lost, 3U * 28 * 320 / 3);
}

/// Another source behind a plate that stands for a tenth of the time, and then turns back.
class HaltedTod final : public ChangedTod {
 public:
  explicit HaltedTod(const TodSource& source)
      : ChangedTod(source, [](std::size_t, std::span<const Signal>) {}), plate_(source) {}
  [[nodiscard]] Boresight boresight(std::size_t number) const override {
    Boresight out = plate_.boresight(number);
    const std::size_t n = plate_.observation(number).samples;
    double* const angle = out.row(kPlateAngle);
    const double step = angle[1] - angle[0];
    for (std::size_t i = 1; i < n; ++i) {
      const double steps = i < n / 3 ? 1 : i < n / 3 + n / 10 ? 0 : i < 2 * n / 3 ? 1 : -1;
      angle[i] = angle[i - 1] + steps * step;
      out.row(kPlateAngle + 1)[i] = std::cos(4 * angle[i]);
      out.row(kPlateAngle + 2)[i] = std::sin(4 * angle[i]);
    }
    return out;
  }

 private:
  const TodSource& plate_;
};

TEST(DemodulatedTod, LeavesOutWhereThePlateDoesNotTurnEvenly) {
  const auto sky = even_sky(1, 0.3F, -0.2F);
  const SimulatedTod source(plate_simulation(), sky);
  const HaltedTod halted(source);
  MapJob job = binned_maps();
  job.demodulation.on = true;
  std::vector<std::string> said;
  Observer observer;
  observer.message = [&](LogLevel level, const std::string& text) {
    if (level == LogLevel::kWarning) said.push_back(text);
  };
  SerialExecutor one;

  const auto counts = solve_maps(halted, job, one, observer);
  const auto whole = solve_maps(source, job, one);

  const Compared found = map_beside(halted, job, *sky, 25);
  ASSERT_GT(found.found[0].size(), 1000U);
  for (int k = 0; k < 3; ++k) EXPECT_LT(found.worst(k), 4e-3) << k;
  // a tenth and where it turns about, with the filters' ends and less than a turn on either side
  const std::size_t lost = counts->summary.flagged - whole->summary.flagged;
  EXPECT_GE(lost, 28U * (1200 + 4 * 255));
  EXPECT_LT(lost, 28U * (1200 + 4 * (255 + 20)));
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("does not turn evenly"), std::string::npos) << said[0];
}

TEST(DemodulatedTod, WeighsStreamsByTheNoiseAtFourTurns) {
  SimulationOptions options = plate_simulation();
  options.plane.noise = {.net = 50e-6, .fmin_hz = 1e-5, .fknee_hz = 4, .slope = 1};
  const SimulatedTod source(options, nullptr);
  const DemodulatedTod streams(source, {.on = true, .skip = 2});
  const Observation& of = streams.observation(1);
  EXPECT_EQ(of.plane.detectors.size(), 42U);
  EXPECT_EQ(of.plane.rate_hz, 10);
  EXPECT_EQ(of.samples, 6000U);
  EXPECT_EQ(streams.group(), 6U);
  // the peer's grid of frequencies has lines between 1e-9 1.4^k
  EXPECT_NEAR(of.plane.detectors[41].noise.net / (50e-6 * std::sqrt(3 * 2.0)), 1, 0.02);
  EXPECT_EQ(of.plane.detectors[3].name, source.observation(1).plane.detectors[1].name);
  EXPECT_EQ(of.plane.detectors[5].name, of.plane.detectors[3].name);  // so they share their part
}

TEST(MakeMaps, OfDemodulatedStreamsAreTheSameForAnyNumberOfThreads) {
  const TempFolder folder;
  SimulationOptions options = plate_simulation();
  options.noise = true;
  options.plate = {.amplitudes_k = {0.01, 0.1, 0, 0.02}, .spread = 0.1, .drift = 0.01};
  const SimulatedTod source(options, some_sky(16));
  SerialExecutor one;
  TestThreads three(3);
  MapJob job = small_maps(folder.file("one"));
  job.filters = {.plate = {.harmonics = 4}, .polynomial = 1, .common_mode = true};
  job.demodulation.on = true;
  job.split = split_of("detectors");
  const MapSummary summary = make_maps(source, job, one);
  EXPECT_EQ(summary.detectors, 14U);
  EXPECT_EQ(summary.samples, 2U * 14 * 3 * 4000);
  job.folder = folder.file("three");
  make_maps(source, job, three);
  for (const char* name : {"hits", "cov", "binned", "map", "part1_map", "part2_map"}) {
    EXPECT_EQ(read_bytes(folder.file("one/") + name + ".fits"),
              read_bytes(folder.file("three/") + name + ".fits"))
        << name;
  }
}

TEST(MakeMaps, SayWhatAPlateLacks) {
  SerialExecutor one;
  MapJob filtered = binned_maps(), demodulated = filtered;
  filtered.filters.plate.harmonics = 4;
  demodulated.demodulation.on = true;
  const auto status = [&](const SimulationOptions& options, const MapJob& job) {
    const SimulatedTod source(options, nullptr);
    return thrown_by([&] { (void)solve_maps(source, job, one); }).status;
  };
  SimulationOptions options = plate_simulation();
  options.noise = true;
  options.scan.plate_rpm = 0;
  EXPECT_EQ(status(options, filtered), Status::kMissingHdu);
  EXPECT_EQ(status(options, demodulated), Status::kMissingHdu);
  options.scan.plate_rpm = 1e-9;  // stands
  EXPECT_EQ(status(options, filtered), Status::kUsage);
  EXPECT_EQ(status(options, demodulated), Status::kUsage);
  options.scan.plate_rpm = 160;  // four times that is above half the rate
  EXPECT_EQ(status(options, filtered), Status::kUsage);
  EXPECT_EQ(status(options, demodulated), Status::kUsage);
  options.scan.plate_rpm = 60;
  MapJob seldom = demodulated;
  seldom.demodulation.skip = 11;  // 1.8 Hz is below twice 0.95
  EXPECT_EQ(status(options, seldom), Status::kUsage);
  seldom.demodulation.skip = 10;
  EXPECT_EQ(status(options, seldom), Status::kOk);
  options.observation_minutes = 0.4;  // 480 samples, the low-pass has 255
  EXPECT_EQ(status(options, demodulated), kNoGoodData);
  MapJob prior = demodulated;
  prior.binned_only = false;
  prior.prior = true;
  EXPECT_EQ(status(plate_simulation(), prior), Status::kUsage);
  prior.prior = false;
  prior.method = MapMethod::kGls;
  EXPECT_EQ(status(plate_simulation(), prior), Status::kUsage);
}

}  // namespace
}  // namespace skyloom
