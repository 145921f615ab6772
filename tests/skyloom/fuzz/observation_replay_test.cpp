// SPDX-License-Identifier: BSD-3-Clause
// Observations and maps that are not as they should be, in a fixed sequence: whatever a file holds,
// there are maps of numbers or one error that names the file. FIBERLOOM_REPLAY_ROUNDS asks for
// more.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <set>

#include "loom/hdf5/hdf5.hpp"
#include "loom/testing/dice.hpp"
#include "loom/testing/test_files.hpp"
#include "skyloom/recipes/inspect_file.hpp"
#include "skyloom/recipes/make_maps.hpp"
#include "skyloom/recipes/write_observations.hpp"
#include "skyloom/status.hpp"
#include "skyloom/tod/focal_plane_file.hpp"
#include "skyloom/tod/simulated_tod.hpp"
#include "skyloom/tod/stored_tod.hpp"

/// libhdf5 1.10 loses a few hundred bytes of its own where a file is damaged, asks for as many as
/// the file says, taking no for an answer, and copies from beyond a damaged heap of texts: no
/// faults of ours (docs/skyloom/formats.md).
extern "C" const char* __lsan_default_suppressions();  // NOLINT: the sanitizer's name for it
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }
extern "C" const char* __asan_default_suppressions();  // NOLINT: likewise
extern "C" const char* __asan_default_suppressions() { return "interceptor_via_lib:libhdf5"; }
extern "C" const char* __asan_default_options();  // NOLINT: likewise
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

namespace skyloom {
namespace {

using hdf5::Field;
using hdf5::Type;
using hdf5::Writer;
using loom::test::Dice;
using loom::test::read_bytes;
using loom::test::replay_rounds;
using loom::test::TempFolder;
using loom::test::with_changed_bytes;
using loom::test::write_bytes;

MapJob small_job(const std::string& folder) {
  MapJob job;
  job.folder = folder;
  job.nside = 4;
  job.step_s = 5;
  return job;
}

constexpr const char* kFlat = "car:0,0,360,180,15";
constexpr std::size_t kDetectors = 2, kSamples = 600;
constexpr std::array kOddNumbers{double{NAN}, double{INFINITY}, -1.0, 0.0,
                                 1e300,       -1e-300,          1e18, 5.0};
constexpr std::array kOddTexts{"",           "[",    "{}", "[\"A\"]", "[\"A\", \"A\"]",
                               "[\"B\", 3]", "null", "uK"};

/// An observation written member by member; with dice some of them are wrong.
class OddObservation {
 public:
  OddObservation(const std::string& path, Dice* dice) : to_(path, Overwrite::kYes), dice_(dice) {}

  void write() {
    number("/", "toast_format_version", 2);
    number("/", "observation_samples", kSamples);
    text("/", "observation_name", "odd");
    text("/", "observation_detectors", "[\"A\", \"B\"]");
    text("/", "observation_detector_flags", "{\"A\": 0, \"B\": 0}");
    std::vector<double> times(kSamples), signal(kDetectors * kSamples), turns(4 * kSamples);
    for (std::size_t i = 0; i < kSamples; ++i) {
      times[i] = 0.1 * static_cast<double>(i);
      const double at = 0.01 * static_cast<double>(i);  // all around, at any angle
      turns[4 * i] = std::sin(at);
      turns[4 * i + 1] = std::sin(3.7 * at);
      turns[4 * i + 2] = std::sin(11 * at + 1);
      turns[4 * i + 3] = std::cos(5 * at);
    }
    for (std::size_t i = 0; i < signal.size(); ++i) signal[i] = static_cast<double>(i % 7);
    numbers("shared/times", {kSamples}, times);
    numbers("shared/boresight_radec", {kSamples, 4}, turns);
    numbers("detdata/signal", {kDetectors, kSamples}, signal);
    if (one_in(2)) numbers("shared/flags", {kSamples}, std::vector<double>(kSamples));
    if (one_in(2)) {
      numbers("detdata/flags", {kDetectors, kSamples}, std::vector<double>(signal.size()));
    }
    numbers("intervals/scanning", {2, 3}, {0, 10, 31, 9.5, 30, 59.9});
    if (one_in(3)) text("detdata/signal", "units", "mK");
    if (one_in(30)) {
      to_.group("shared/hwp_angle");
    } else if (one_in(3)) {
      numbers("shared/hwp_angle", {kSamples}, times);
    }
    table("instrument/focalplane", "name",
          {{"quat", {0.02, 0, 0, 1}}, {"pol_leakage", {0.1}}, {"gamma", {0}}, {"uid", {7}}});
    table("metadata/noise_model/analytic", "f0",
          {{"f1", {10}}, {"f2", {1e-5}}, {"f3", {0.05}}, {"f4", {1}}, {"f5", {1e-4}}});
    to_.commit();
  }

 private:
  struct Column {
    std::string name;
    std::vector<double> values;
  };

  [[nodiscard]] bool one_in(std::size_t n) { return dice_ != nullptr && dice_->one_in(n); }
  [[nodiscard]] bool left_out() { return one_in(50); }
  double odd(double value) {
    return one_in(80) ? kOddNumbers[dice_->below(kOddNumbers.size())] : value;
  }
  void number(const char* name, const char* attribute, double value) {
    if (!left_out()) to_.describe(name, attribute, odd(value));
  }
  void text(const char* name, const char* attribute, const std::string& value) {
    if (left_out() || !sets_.contains(name)) return;
    to_.describe(name, attribute, one_in(20) ? kOddTexts[dice_->below(kOddTexts.size())] : value);
  }
  void numbers(const std::string& name, std::vector<std::size_t> shape,
               std::vector<double> values) {
    if (left_out()) return;
    if (one_in(30)) return to_.text(name, "not numbers");
    if (one_in(30)) {
      shape[dice_->below(shape.size())] = std::size_t{1} << dice_->below(40);
      return to_.create(name, Type::kFloat64, shape);
    }
    if (one_in(5)) {
      for (double& value : values) value = odd(value);
    }
    to_.create(name, one_in(4) ? Type::kFloat32 : Type::kFloat64, shape);
    to_.write(name, 0, std::span<const double>(values));
    sets_.insert(name);
  }
  void table(const std::string& name, const std::string& key, const std::vector<Column>& columns) {
    if (left_out()) return;
    std::vector<Field> fields{{key, Type::kText, 2}};
    std::vector<Column> kept;
    for (const Column& column : columns) {
      if (left_out()) continue;
      fields.push_back({column.name, Type::kFloat64, column.values.size()});
      kept.push_back(column);
    }
    std::vector<std::uint8_t> bytes;
    for (const char letter : {'A', 'B'}) {
      bytes.push_back(static_cast<std::uint8_t>(left_out() ? 'C' : letter));
      bytes.push_back(0);
      for (const Column& column : kept) {
        for (const double value : column.values) {
          const double stored = odd(value);
          const auto* const from = reinterpret_cast<const std::uint8_t*>(&stored);
          bytes.insert(bytes.end(), from, from + sizeof stored);
        }
      }
    }
    to_.table(name, fields, 2, bytes);
  }

  Writer to_;
  Dice* dice_;
  std::set<std::string> sets_{"/"};
};

SimulationOptions small_simulation() {
  SimulationOptions options;
  options.plane = {.pixels = 1, .rate_hz = 10, .noise = {.net = 1e-4}};
  options.scan = {.spin_minutes = 0.2, .precession_minutes = 3, .year_days = 0};
  options.observation_minutes = 1;
  return options;
}

class ObservationReplay : public testing::Test {
 protected:
  void SetUp() override {
    if (!hdf5::available()) GTEST_SKIP() << "built without HDF5";
  }

  /// Maps of finite numbers or UNSEEN, or an error that names the file or says that nothing is
  /// good.
  void map() {
    std::filesystem::remove_all(maps);
    answers([&] { (void)inspect_file(path); });
    answers([&] {
      for (const Detector& each : read_focal_plane(path, {}).detectors) {
        ASSERT_TRUE(std::isfinite(each.place.w) && std::isfinite(each.gamma));
      }
    });
    answers([&] {
      MapJob job = small_job(maps);
      job.prior = ++calls % 2 == 0;
      job.solve.least_reciprocal = calls % 3 == 0 ? 1e-3 : 0;
      job.limits.iterations = 30;
      StoredOptions data;
      if (calls % 4 == 0) data.intervals = "scanning";
      if (calls % 5 == 0) job.filters = {.polynomial = calls % 7, .common_mode = true};
      if (calls % 7 == 3) job.filters.deglitch = {.sigmas = 5, .window = 11};
      if (calls % 6 == 1) {
        job.method = MapMethod::kGls;
        job.correlation_s = static_cast<double>(calls % 9) * 10;
        job.split = split_of(calls % 4 == 1 ? "detectors" : "none");
      }
      if (calls % 8 == 5) {
        job.nside = MapJob().nside;
        job.wcs = wcs_grid_of(calls % 16 == 5 ? kFlat : "tan:40,20,90,60,9");
      }
      make_maps(StoredTod({path}, data), job, serial);
      ++mapped;
      if (job.wcs) return;
      for (const char* name : {"binned", "map"}) {
        const SkyMap found = read_sky(maps + "/" + name + ".fits");
        for (const float value : found.values) ASSERT_TRUE(std::isfinite(value));
        ASSERT_LT(found.unseen, found.values.size() / 3) << "nothing was seen, and none was told";
      }
    });
  }

  /// Runs it; an error must be of a file and say which.
  template <class Call>
  void answers(const Call& call) {
    try {
      call();
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_NE(error.status(), Status::kInternal) << text;
      if (error.status() == kNoGoodData || error.status() == kNoiseModel) return;
      EXPECT_NE(text.find(path), std::string::npos) << text;
    }
  }

  const TempFolder folder;
  const std::string path = folder.file("odd.h5"), maps = folder.file("maps");
  SerialExecutor serial;
  std::size_t mapped = 0, calls = 0;
};

TEST_F(ObservationReplay, AnyObservationBecomesMapsOfNumbersOrAnError) {
  const std::size_t all = replay_rounds(200);
  for (std::size_t i = 0; i < all; ++i) {
    SCOPED_TRACE(i);
    Dice dice(i);
    OddObservation(path, &dice).write();
    map();
    if (HasFailure()) return;
  }
  EXPECT_GT(mapped, all / 10);
  EXPECT_LT(mapped, all * 4 / 5);
}

TEST_F(ObservationReplay, AFileThatEndsAnywhereIsAnError) {
  const auto made = write_observations(SimulatedTod(small_simulation(), nullptr),
                                       folder.file("good"), Overwrite::kYes, serial);
  const std::vector<std::uint8_t> whole = read_bytes(made.at(0));
  Dice dice(1);
  for (std::size_t i = 0; i < 100; ++i) {
    write_bytes(path, std::span(whole).first(dice.below(whole.size())));
    map();
  }
  EXPECT_EQ(mapped, 0U);
}

/// Texts of fixed length: those of TOAST lie in a heap of their own, which libhdf5 1.10 reads
/// without a look at where it ends, and no call of it tells beforehand.
TEST_F(ObservationReplay, BytesThatWereChangedGiveMapsOfNumbersOrAnError) {
  OddObservation(path, nullptr).write();
  const std::vector<std::uint8_t> whole = read_bytes(path);
  const std::size_t all = replay_rounds(200);
  for (std::size_t i = 0; i < all; ++i) {
    SCOPED_TRACE(i);
    Dice dice(i);
    write_bytes(path, with_changed_bytes(whole, 6000, dice));
    map();
    if (HasFailure()) return;
  }
  EXPECT_GT(mapped, 0U);
  EXPECT_LT(mapped, all);
}

TEST_F(ObservationReplay, AMapWithChangedBytesIsASkyOfNumbersOrAnError) {
  const MapJob job = small_job(maps);
  make_maps(SimulatedTod(small_simulation(), nullptr), job, serial);
  const std::vector<std::uint8_t> whole = read_bytes(maps + "/binned.fits");
  for (std::size_t i = 0; i < replay_rounds(500); ++i) {
    SCOPED_TRACE(i);
    Dice dice(i);
    write_bytes(path, with_changed_bytes(whole, whole.size(), dice));
    answers([&] {
      const SkyMap sky = read_sky(path);
      for (const float value : sky.values) ASSERT_FALSE(std::isnan(value));
    });
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace skyloom
