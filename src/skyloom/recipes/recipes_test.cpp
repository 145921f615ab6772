// SPDX-License-Identifier: BSD-3-Clause
// From options to files: what is simulated is mapped, written, read back and mapped again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <vector>

#include "loom/hdf5/hdf5.hpp"
#include "loom/testing/test_executor.hpp"
#include "loom/testing/test_files.hpp"
#include "skyloom/recipes/inspect_file.hpp"
#include "skyloom/recipes/make_maps.hpp"
#include "skyloom/recipes/map_option_table.hpp"
#include "skyloom/recipes/read_option_table.hpp"
#include "skyloom/recipes/schedule_option_table.hpp"
#include "skyloom/recipes/simulate_option_table.hpp"
#include "skyloom/recipes/test_maps.hpp"
#include "skyloom/recipes/view_maps.hpp"
#include "skyloom/recipes/write_observations.hpp"
#include "skyloom/sky/map_file.hpp"
#include "skyloom/status.hpp"
#include "skyloom/tod/simulated_tod.hpp"
#include "skyloom/tod/stored_tod.hpp"

namespace skyloom {
namespace {

using loom::test::read_bytes;
using loom::test::TempFolder;
using loom::test::thrown_by;
using test::ChangedTod;
using test::small_maps;
using test::small_simulation;
using test::some_sky;

TEST(MakeMaps, PartialFilesHaveWhatWholeOnesHave) {
  const TempFolder folder;
  SerialExecutor one;
  const SimulatedTod source(small_simulation(), some_sky(16));
  for (const Ordering ordering : {Ordering::kNested, Ordering::kRing}) {
    MapJob job = small_maps(folder.file("whole"));
    job.ordering = ordering;
    job.split = split_of("detectors");
    make_maps(source, job, one);
    job.folder = folder.file("part");
    job.partial = true;
    const MapSummary summary = make_maps(source, job, one);
    std::size_t bytes[2] = {};
    for (const char* name :
         {"hits", "rcond", "cov", "invcov", "binned", "map", "part2_hits", "part2_map"}) {
      const std::string file = std::string("/") + name + ".fits";
      const MapTable whole(folder.file("whole") + file), part(folder.file("part") + file);
      ASSERT_EQ(part.names(), whole.names());
      std::size_t seen = 0;
      for (std::size_t c = 0; c < part.names().size(); ++c) {
        const std::vector<double> a = whole.column(c), b = part.column(c);
        for (std::size_t p = 0; p < a.size(); ++p) {
          const bool none = std::isnan(b[p]);
          EXPECT_TRUE(none ? std::isnan(a[p]) || a[p] == 0 : a[p] == b[p]) << name << " " << p;
          seen += none ? 0 : 1;
        }
      }
      EXPECT_GT(seen, summary.hit_pixels / 2);
      bytes[0] += read_bytes(folder.file("part") + file).size();
      bytes[1] += read_bytes(folder.file("whole") + file).size();
    }
    EXPECT_LT(bytes[0], bytes[1]);
  }
}

TEST(MakeMaps, InHdf5HaveWhatThoseInFitsHave) {
  const TempFolder folder;
  SerialExecutor one;
  const SimulatedTod source(small_simulation(), some_sky(16));
  MapJob job = small_maps(folder.file("fits"));
  job.nside = 64;
  job.solve.least_reciprocal = 0.2;
  make_maps(source, job, one);
  job.folder = folder.file("hdf5");
  job.format = MapFormat::kHdf5;
  make_maps(source, job, one);
  for (const char* name : {"/hits", "/rcond", "/cov", "/invcov", "/binned", "/map"}) {
    const MapTable a(folder.file("fits") + name + ".fits"), b(folder.file("hdf5") + name + ".h5");
    ASSERT_EQ(a.names(), b.names());
    EXPECT_EQ(a.frame(), b.frame());
    for (std::size_t c = 0; c < a.names().size(); ++c) {
      const std::vector<double> x = a.column(c), y = b.column(c);
      for (std::size_t p = 0; p < x.size(); ++p) {
        ASSERT_TRUE(x[p] == y[p] || (std::isnan(x[p]) && std::isnan(y[p]))) << name << " " << p;
      }
    }
  }
  EXPECT_EQ(inspect_file(folder.file("hdf5/map.h5")).kind, "HEALPix map");
  EXPECT_NE(view_maps({.folder = folder.file("hdf5"), .other = folder.file("fits")}, one)
                .find("\"of\":\"hits\""),
            std::string::npos);
  job.partial = true;
  EXPECT_EQ(thrown_by([&] { make_maps(source, job, one); }).status, Status::kUsage);
}

TEST(MakeMaps, RecoversTheSkyThatWasScanned) {
  const TempFolder folder;
  SimulationOptions options = small_simulation();
  options.noise = false;
  const auto sky = some_sky(16);
  SerialExecutor one;
  const MapSummary summary =
      make_maps(SimulatedTod(options, sky), small_maps(folder.file("maps")), one);
  EXPECT_EQ(summary.samples, 2U * 14 * 3000);
  EXPECT_EQ(summary.good, summary.samples);
  EXPECT_TRUE(summary.converged);
  for (const char* name : {"binned", "map"}) {
    const SkyMap found = read_sky(folder.file("maps/") + name + ".fits");
    std::size_t seen = 0;
    for (std::size_t i = 0; i < found.values.size(); ++i) {
      if (found.values[i] == 0) continue;
      ++seen;
      // destriped: but for the constant that nobody knows, 0 as it happens without noise
      EXPECT_NEAR(found.values[i], sky->values[i], 1e-6) << name << " " << i;
    }
    EXPECT_EQ(found.unseen + seen / 3, 3072U) << name;
    EXPECT_GT(seen, 3000U);
  }
}

TEST(MakeMaps, SeesPolarisationThroughAHalfWavePlateWithOneDetector) {
  const TempFolder folder;
  SimulationOptions options = small_simulation();
  options.plane.pixels = 1;
  options.noise = false;
  options.scan.plate_rpm = 47;
  const auto sky = some_sky(4);
  SerialExecutor one;
  MapJob job = small_maps(folder.file("maps"));
  job.nside = 4;
  const auto paths =
      write_observations(SimulatedTod(options, sky), folder.file("data"), Overwrite::kNo, one);
  const MapSummary summary = make_maps(StoredTod(paths, {}), job, one);
  EXPECT_EQ(summary.cut_pixels, 0U);
  const SkyMap found = read_sky(folder.file("maps/binned.fits"));
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    if (found.values[i] != 0) {
      EXPECT_NEAR(found.values[i], sky->values[i], 1e-6) << i;
    }
  }
  // what is not told of the plate: another sky
  job.folder = folder.file("blind");
  make_maps(StoredTod(paths, {.plate = "none"}), job, one);
  const SkyMap blind = read_sky(folder.file("blind/binned.fits"));
  double most = 0;
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    most = std::max(most, std::fabs(double{blind.values[i]} - double{found.values[i]}));
  }
  EXPECT_GT(most, 0.5);
}

TEST(MakeMaps, OfAPartHaveEveryBaselineThatBeginsInIt) {
  const TempFolder folder;
  const SimulatedTod source(small_simulation(), some_sky(64));  // 2 x 3000 samples, 14 detectors
  SerialExecutor one;
  TestThreads three(3);
  for (const char* split : {"detectors", "observations", "time=5"}) {
    MapJob job = small_maps(folder.file("one"));
    job.split = split_of(split);
    const MapSummary summary = make_maps(source, job, one);
    std::size_t good = 0;
    for (const PartSummary& part : summary.parts) good += part.good;
    EXPECT_EQ(good, summary.good) << split;
    ASSERT_EQ(summary.parts.size(), job.split.parts);
    // baselines of 50 samples: 24 of the 120 are a fifth
    EXPECT_EQ(summary.parts[0].good, summary.good / job.split.parts) << split;
    job.folder = folder.file("three");
    make_maps(source, job, three);
    for (const char* name : {"hits", "cov", "binned", "map"}) {
      const std::string file = std::string("/part2_") + name + ".fits";
      EXPECT_EQ(read_bytes(folder.file("one") + file), read_bytes(folder.file("three") + file))
          << split << " " << name;
    }
  }
}

TEST(MakeMaps, OfAPartThatHasNoValueSaySo) {
  const TempFolder folder;
  SimulationOptions options = small_simulation();
  options.plane.pixels = 1;
  const SimulatedTod whole(options, nullptr);
  bool flagged = true;
  const test::ChangedTod source(whole, [&](std::size_t, std::span<const Signal> signals) {
    if (flagged) std::ranges::fill(signals[1].flags, std::uint8_t{1});  // of every other detector
  });
  MapJob job = small_maps(folder.file("maps"));
  job.binned_only = job.partial = true;
  job.solve.least_reciprocal = 0;
  job.split = split_of("detectors");
  SerialExecutor one;
  std::string told;
  Observer observer;
  observer.message = [&](LogLevel level, const std::string& text) {
    if (level == LogLevel::kWarning) told += text + "\n";
  };
  make_maps(source, job, one, observer);
  EXPECT_EQ(told, "part 2 of --split has no value in any pixel: none of its samples is good\n");
  const std::vector<double> values = MapTable(folder.file("maps/part2_binned.fits")).column(0);
  EXPECT_TRUE(std::ranges::all_of(values, [](double value) { return std::isnan(value); }));
  told.clear();
  flagged = false;
  make_maps(source, job, one, observer);
  EXPECT_EQ(told, "");
}

/// From the ground by day, with flags of the detectors' own beside the mount's.
class FlaggedByDay final : public TodSource {
 public:
  explicit FlaggedByDay(const SimulatedTod& source) : source_(source) {}
  [[nodiscard]] std::size_t observations() const override { return 1; }
  [[nodiscard]] const Observation& observation(std::size_t number) const override {
    return source_.observation(number);
  }
  [[nodiscard]] Boresight boresight(std::size_t number) const override {
    return source_.boresight(number);
  }
  [[nodiscard]] std::shared_ptr<const GroundMotion> motion(std::size_t number) const override {
    return source_.motion(number);
  }
  void read(std::size_t number, const Boresight& boresight, std::size_t first,
            std::span<const Signal> signals) const override {
    source_.read(number, boresight, first, signals);
    for (const Signal& signal : signals) {
      for (std::size_t i = 0; i < signal.flags.size(); i += 3) signal.flags[i] = 1;
    }
  }

 private:
  const SimulatedTod& source_;
};

TEST(WriteObservations, KeepsADetectorsFlagsWhereTheSunIsUp) {
  const TempFolder folder;
  SimulationOptions options = small_simulation();
  options.schedule = std::make_shared<const GroundSchedule>(
      parse_schedule("a | t | -22 | -67 | 5200\n"
                     "2026-03-18 15:00:00 | 2026-03-18 15:10:00 | 0 | day | 40 | 60 | 50 | 0 | 0\n",
                     "text"));
  const SimulatedTod source(options, nullptr);
  SerialExecutor one;
  const auto paths =
      write_observations(FlaggedByDay(source), folder.file("data"), Overwrite::kNo, one);
  const hdf5::Reader file(paths.at(0));
  const std::vector<double> own = file.read("detdata/flags"), shared = file.read("shared/flags");
  std::size_t by_day = 0;
  for (std::size_t i = 0; i < shared.size(); ++i) {
    const auto bits = static_cast<int>(shared[i]);
    by_day += (bits & kSunUpFlag) != 0 ? 1 : 0;
    EXPECT_EQ(own[i] != 0, i % 3 == 0 && (bits & kSharedMask) == 0) << i;
  }
  EXPECT_GT(by_day, 1000U);
}

TEST(Split, TellsWhatItTakesAndRefusesTheRest) {
  for (const char* text : {"none", "detectors", "observations", "time=2", "time=100"}) {
    EXPECT_EQ(split_text(split_of(text)), text);
  }
  for (const char* text : {"", "time", "time=", "time=1", "time=101", "time=2x", "half"}) {
    EXPECT_EQ(thrown_by([&] { (void)split_of(text); }).status, Status::kUsage) << text;
  }
  SimulationOptions options = small_simulation();
  options.observations = 1;
  const SimulatedTod source(options, nullptr);
  EXPECT_EQ(thrown_by([&] { (void)SplitPlan(source, split_of("observations")); }).status,
            Status::kUsage);
  const SplitPlan plan(source, split_of("time=3"));
  EXPECT_EQ(plan.part(0, 1, 0), 0U);
  EXPECT_EQ(plan.part(0, 1, 999), 0U);
  EXPECT_EQ(plan.part(0, 1, 1001), 1U);
  EXPECT_EQ(plan.part(0, 1, 2999), 2U);
}

TEST(MakeMaps, GivesTheSameFilesForAnyNumberOfThreads) {
  const TempFolder folder;
  const SimulatedTod source(small_simulation(), some_sky(64));
  SerialExecutor one;
  TestThreads three(3);
  make_maps(source, small_maps(folder.file("one")), one);
  make_maps(source, small_maps(folder.file("three")), three);
  for (const char* name : {"hits", "rcond", "invcov", "cov", "binned", "map"}) {
    EXPECT_EQ(read_bytes(folder.file("one/") + name + ".fits"),
              read_bytes(folder.file("three/") + name + ".fits"))
        << name;
  }
}

TEST(MakeMaps, SaysWhyNoSampleIsGood) {
  const TempFolder folder;
  SerialExecutor one;
  const SimulatedTod good(small_simulation(), nullptr);
  for (const bool flagged : {true, false}) {
    const ChangedTod source(good, [&](std::size_t, std::span<const Signal> signals) {
      for (const Signal& signal : signals) {
        if (flagged) std::fill(signal.flags.begin(), signal.flags.end(), std::uint8_t{1});
        if (!flagged) std::fill(signal.values.begin(), signal.values.end(), NAN);
      }
    });
    const auto thrown = thrown_by([&] { make_maps(source, small_maps(folder.file("m")), one); });
    EXPECT_EQ(thrown.status, kNoGoodData);
    EXPECT_TRUE(thrown.says(flagged
                                ? "none of 84000 samples is good: 84000 are flagged, 0 not finite"
                                : "0 are flagged, 84000 not finite"))
        << thrown.message;
  }
  EXPECT_FALSE(std::filesystem::exists(folder.file("m")));
}

TEST(MakeMaps, NeedsNoFileBetween) {
  if (!hdf5::available()) GTEST_SKIP();
  const TempFolder folder;
  const SimulatedTod source(small_simulation(), some_sky(64));
  SerialExecutor one;
  const auto paths = write_observations(source, folder.file("data"), Overwrite::kNo, one);
  ASSERT_EQ(paths.size(), 2U);
  make_maps(source, small_maps(folder.file("direct")), one);
  const MapSummary summary =
      make_maps(StoredTod(paths, {}), small_maps(folder.file("stored")), one);
  EXPECT_EQ(summary.detectors, 14U);
  for (const char* name : {"hits", "invcov", "map"}) {
    EXPECT_EQ(read_bytes(folder.file("direct/") + name + ".fits"),
              read_bytes(folder.file("stored/") + name + ".fits"))
        << name;
  }
  const FileReport report = inspect_file(paths[1]);
  EXPECT_EQ(report.facts[0].second, "satellite_000001");
  EXPECT_EQ(report.facts[1].second, "14");
  EXPECT_EQ(inspect_file(folder.file("direct/map.fits")).kind, "HEALPix map");
}

TEST(StoredTod, NamesWhatIsWrong) {
  if (!hdf5::available()) GTEST_SKIP();
  const TempFolder folder;
  SimulationOptions options = small_simulation();
  options.observations = 1;
  SerialExecutor one;
  const std::string good =
      write_observations(SimulatedTod(options, nullptr), folder.file("d"), Overwrite::kYes, one)[0];
  const auto refusal = [](const std::string& path, const StoredOptions& data = {}) {
    return thrown_by([&] { const StoredTod opened({path}, data); });
  };
  EXPECT_EQ(refusal(good).status, Status::kOk);
  EXPECT_EQ(refusal(folder.file("none.h5")).status, Status::kNotFound);
  EXPECT_TRUE(refusal(good, {.signal = "tod"}).says("no data set detdata/tod"));
  EXPECT_EQ(refusal(good, {.boresight = "elsewhere"}).status, Status::kMissingHdu);
  EXPECT_EQ(refusal(good, {.noise_model = "none"}).status, kNoiseModel);
  const std::string cut = folder.file("cut.h5");
  std::vector<std::uint8_t> bytes = read_bytes(good);
  bytes.resize(bytes.size() / 2);
  loom::test::write_bytes(cut, bytes);
  EXPECT_EQ(refusal(cut).status, Status::kCorrupt);
  const std::string other = folder.file("other.h5");
  {
    hdf5::Writer writer(other, Overwrite::kYes);
    writer.commit();
  }
  EXPECT_EQ(refusal(other).status, Status::kMissingKeyword);
  {
    hdf5::Writer writer(other, Overwrite::kYes);
    writer.describe("/", "toast_format_version", std::int64_t{1});
    writer.commit();
  }
  EXPECT_TRUE(refusal(other).says("toast_format_version 1: expected 2"));
}

TEST(SimulatedTod, RefusesWhatCannotBe) {
  SimulationOptions options = small_simulation();
  options.observation_minutes = 1e-4;
  EXPECT_EQ(thrown_by([&] { SimulatedTod(options, nullptr); }).status, Status::kUsage);
  options = small_simulation();
  options.plane.noise.net = -1;
  EXPECT_EQ(thrown_by([&] { SimulatedTod(options, nullptr); }).status, kNoiseModel);
}

template <class Job>
void check_rows(std::span<const OptionRow<Job>> rows) {
  for (const auto& row : rows) {
    Job job;
    const std::string text = field_text(row.field(job));
    set_option(row, job, text);
    EXPECT_EQ(field_text(row.field(job)), text) << row.key;
  }
}

TEST(OptionRows, TakeWhatTheyTell) {
  check_rows(map_option_rows());
  check_rows(read_option_rows());
  check_rows(simulate_option_rows());
  check_rows(schedule_option_rows());
}

}  // namespace
}  // namespace skyloom
