// SPDX-License-Identifier: BSD-3-Clause
// Observations that another program wrote: other units, other types of flags, noise models without
// spectra; and options that say nothing of the data at hand.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <string>
#include <vector>

#include "loom/hdf5/hdf5.hpp"
#include "loom/testing/test_executor.hpp"
#include "loom/testing/test_files.hpp"
#include "skyloom/recipes/inspect_file.hpp"
#include "skyloom/recipes/make_maps.hpp"
#include "skyloom/recipes/simulation.hpp"
#include "skyloom/recipes/solve_maps.hpp"
#include "skyloom/recipes/test_maps.hpp"
#include "skyloom/status.hpp"
#include "skyloom/tod/simulated_tod.hpp"
#include "skyloom/tod/stored_tod.hpp"

namespace skyloom {
namespace {

using loom::test::TempFolder;
using loom::test::thrown_by;

constexpr std::size_t kSamples = 64;

/// One detector that looks at one place.
struct Foreign {
  double gamma = 0;
  std::string gamma_unit = "rad";
  hdf5::Type flags = hdf5::Type::kUint8;
  std::vector<double> flagged = {};  ///< flags of the first samples
  float weight = 4;
  std::string weight_unit = "1 / K2";
  std::size_t late_from = kSamples;  ///< samples from here on are so many seconds late
  double late_s = 0;
  bool lost = false;  ///< nobody knows where the first sample looked
};

template <class Row>
std::span<const std::uint8_t> bytes_of(const Row& row) {
  return {reinterpret_cast<const std::uint8_t*>(&row), sizeof(row)};
}

void write_observation(const std::string& path, const Foreign& of) {
  using hdf5::Type;
  constexpr auto kText = hdf5::TextKind::kVariable;
  hdf5::Writer to(path, Overwrite::kYes);
  to.describe("/", "toast_format_version", std::int64_t{2});
  to.describe("/", "observation_name", "foreign", kText);
  to.describe("/", "observation_samples", std::int64_t{kSamples});
  to.describe("/", "observation_detectors", R"(["a"])", kText);
  to.describe("/", "observation_detector_flags", R"({"a": 0})", kText);
  struct Detector {
    std::array<char, 8> name = {'a'};
    std::array<double, 4> quat = {0, 0, 0, 1};
    double gamma = 0;
  } detector{.gamma = of.gamma};
  const hdf5::Field columns[] = {
      {"name", Type::kText, 8}, {"quat", Type::kFloat64, 4, true}, {"gamma"}};
  to.table("instrument/focalplane", columns, 1, bytes_of(detector));
  to.texts("instrument/focalplane.__table_column_meta__",
           {"- {name: gamma, unit: " + of.gamma_unit + ", datatype: float64}"});
  struct Weight {
    std::array<char, 8> name = {'a'};
    float weight = 0;
  } weight{.weight = of.weight};
  const hdf5::Field weights[] = {{"f0", Type::kText, 8}, {"f1", Type::kFloat32}};
  to.table("metadata/noise_model/detector_weights", weights, 1, bytes_of(weight));
  to.describe("metadata/noise_model/detector_weights", "unit", of.weight_unit, kText);
  std::vector<double> times(kSamples), looks(4 * kSamples, 0.0), flags(kSamples, 0.0);
  for (std::size_t i = 0; i < kSamples; ++i) {
    times[i] = static_cast<double>(i) + (i < of.late_from ? 0 : of.late_s);
    const double half = 0.1 * static_cast<double>(i);  // a turn about the line of sight
    const double tilt[] = {std::sin(0.25), std::cos(0.25)},
                 turn[] = {std::sin(half), std::cos(half)};
    for (std::size_t k = 0; k < 4; ++k) looks[4 * i + k] = tilt[k / 2] * turn[k % 2];
  }
  if (of.lost) std::fill_n(looks.begin(), 4, NAN);
  std::copy(of.flagged.begin(), of.flagged.end(), flags.begin());
  const auto put = [&](const std::string& name, Type type, std::vector<std::size_t> shape,
                       const std::vector<double>& values) {
    to.create(name, type, shape);
    to.write(name, 0, std::span<const double>(values));
  };
  put("shared/times", Type::kFloat64, {kSamples}, times);
  put("shared/boresight_radec", Type::kFloat64, {kSamples, 4}, looks);
  put("shared/flags", of.flags, {kSamples}, flags);
  put("detdata/flags", of.flags, {1, kSamples}, flags);
  put("detdata/signal", Type::kFloat64, {1, kSamples}, times);
  to.commit();
}

MapJob test_job(double step_s) {
  MapJob job;
  job.nside = 1;
  job.step_s = step_s;
  return job;
}

std::vector<std::uint8_t> flags_of(const StoredTod& source) {
  std::vector<double> values(kSamples);
  std::vector<std::uint8_t> flags(kSamples);
  const Signal one{values, flags};
  source.read(0, source.boresight(0), 0, {&one, 1});
  return flags;
}

TEST(ForeignObservation, MayBeLostWhereItIsFlagged) {
  if (!hdf5::available()) GTEST_SKIP() << "built without HDF5";
  const TempFolder folder;
  const std::string path = folder.file("lost.h5");
  SerialExecutor one;
  std::size_t good[2] = {};
  for (const bool lost : {false, true}) {
    write_observation(path, {.flagged = {1}, .lost = lost});
    good[lost ? 1 : 0] = solve_maps(StoredTod({path}, {}), test_job(10), one)->summary.good;
  }
  EXPECT_EQ(good[0], kSamples - 1);
  EXPECT_EQ(good[1], good[0]);
  write_observation(path, {.lost = true});
  const auto refused = thrown_by([&] { (void)StoredTod({path}, {}).boresight(0); });
  EXPECT_TRUE(refused.says("row 0 is no quaternion")) << refused.message;
}

TEST(ForeignObservation, ThatIsNoneOrIsCompressedSaysSo) {
  if (!hdf5::available()) GTEST_SKIP() << "built without HDF5";
  const TempFolder folder;
  const std::string path = folder.file("other.h5");
  const auto refusal = [&](const char* name, bool is_observation) {
    {
      hdf5::Writer to(path, Overwrite::kYes);
      if (is_observation) to.describe("/", "toast_format_version", std::int64_t{2});
      to.create(name, hdf5::Type::kFloat64, {2, 12});
      to.commit();
    }
    return thrown_by([&] { StoredTod source({path}, {}); });
  };
  for (const auto& [name, kind] :
       {std::pair("map", "a map"), std::pair("exchange/data", "Data Exchange")}) {
    const auto refused = refusal(name, false);
    EXPECT_EQ(refused.status, Status::kMissingKeyword);
    EXPECT_TRUE(refused.says("no observation of TOAST")) << refused.message;
    EXPECT_TRUE(refused.says(kind)) << refused.message;
  }
  for (const char* set : {"detdata/signal", "detdata/flags"}) {
    const auto refused = refusal((std::string(set) + "/compressed").c_str(), true);
    EXPECT_EQ(refused.status, Status::kUnsupported);
    EXPECT_TRUE(refused.says((std::string(set) + " is compressed").c_str())) << refused.message;
  }
}

TEST(ForeignObservation, HasTheAngleInTheUnitThatIsNoted) {
  const TempFolder folder;
  const std::string path = folder.file("o.h5");
  const auto gamma_in = [&](const char* unit) {
    write_observation(path, {.gamma = 45, .gamma_unit = unit});
    return StoredTod({path}, {}).observation(0).plane.detectors.at(0).gamma;
  };
  EXPECT_EQ(gamma_in("rad"), 45);
  EXPECT_NEAR(gamma_in("deg"), std::numbers::pi / 4, 1e-15);
  EXPECT_TRUE(thrown_by([&] { gamma_in("furlong"); }).says("'furlong'"));
}

TEST(ForeignObservation, IsToldOfWhereItsTimesAreNotEven) {
  const TempFolder folder;
  const std::string path = folder.file("o.h5");
  const auto notes = [&](double late_s) {
    write_observation(path, {.late_from = 40, .late_s = late_s});
    return StoredTod({path}, {}).notes();
  };
  EXPECT_TRUE(notes(0).empty());
  EXPECT_TRUE(notes(0.4).empty());             // what timestamps jitter
  for (const double late : {1000.0, -20.0}) {  // a gap; a clock that was set back
    const auto said = notes(late);
    ASSERT_EQ(said.size(), 1U);
    EXPECT_NE(
        said[0].find("o.h5: shared/times: 1 of 63 steps are not 1 s (that behind sample 39 is"),
        std::string::npos)
        << said[0];
  }
}

TEST(ForeignObservation, HasItsBitsWhateverTheTypeOfItsFlags) {
  const TempFolder folder;
  const std::string path = folder.file("o.h5");
  for (const hdf5::Type type : {hdf5::Type::kUint16, hdf5::Type::kInt32, hdf5::Type::kInt64}) {
    write_observation(path, {.flags = type, .flagged = {0, 256, 257, 16}});
    const auto flags = flags_of(StoredTod({path}, {}));
    EXPECT_EQ((std::vector<std::uint8_t>(flags.begin(), flags.begin() + 4)),
              (std::vector<std::uint8_t>{0, 0, 1, 0}));
  }
  write_observation(path, {.flags = hdf5::Type::kInt8, .flagged = {-127, -128}});  // 0x81, 0x80
  EXPECT_EQ(flags_of(StoredTod({path}, {}))[0], 1);
  EXPECT_EQ(flags_of(StoredTod({path}, {}))[1], 0);
  write_observation(path, {.flags = hdf5::Type::kFloat64, .flagged = {NAN}});
  EXPECT_TRUE(thrown_by([&] { flags_of(StoredTod({path}, {})); }).says("expected whole numbers"));
}

TEST(ForeignObservation, HasWeightsInTheUnitThatIsNoted) {
  const TempFolder folder;
  const std::string path = folder.file("o.h5");
  const auto net_of = [&](float weight, const char* unit) {
    write_observation(path, {.weight = weight, .weight_unit = unit});
    const StoredTod source({path}, {});
    return source.observation(0).plane.detectors.at(0).noise.net;
  };
  EXPECT_NEAR(net_of(4, "1 / K2"), 0.5, 1e-12);
  EXPECT_NEAR(net_of(4, "1 / mK2"), 0.5e-3, 1e-15);
  for (const float bad : {-1.0F, NAN, INFINITY}) {
    EXPECT_EQ(thrown_by([&] { net_of(bad, "1 / K2"); }).status, kNoiseModel) << bad;
  }
  EXPECT_TRUE(thrown_by([&] { net_of(4, "1 / W2"); }).says("'1 / W2'"));
}

TEST(ForeignObservation, OfWeightsAloneHasNoPriorAndNoLikelihood) {
  const TempFolder folder;
  SerialExecutor one;
  const std::string path = folder.file("o.h5");
  write_observation(path, {});
  const StoredTod source({path}, {});
  MapJob job = test_job(8);
  EXPECT_EQ(solve_maps(source, job, one)->summary.good, kSamples);
  job.prior = true;
  EXPECT_EQ(thrown_by([&] { (void)solve_maps(source, job, one); }).status, kNoiseModel);
  job.prior = false;
  job.method = MapMethod::kGls;
  EXPECT_TRUE(thrown_by([&] { (void)solve_maps(source, job, one); }).says("--method gls"));
}

TEST(ForeignObservation, OfWhichHalfIsFlaggedHasABinnedMapAllTheSame) {
  const TempFolder folder;
  SerialExecutor one;
  const std::string path = folder.file("o.h5");
  write_observation(path, {.flagged = std::vector<double>(40, 1.0)});
  const StoredTod source({path}, {});
  MapJob job = test_job(0);
  EXPECT_EQ(thrown_by([&] { (void)solve_maps(source, job, one); }).status, kNoGoodData);
  job.binned_only = true;
  EXPECT_EQ(solve_maps(source, job, one)->summary.good, 24U);
  job.filters.polynomial = 30;  // of 24 samples: told, for nothing in the data flags them
  EXPECT_TRUE(thrown_by([&] {
                (void)solve_maps(source, job, one);
              }).says("64 are flagged (1 stretches of detectors since no filter could be fitted)"));
}

TEST(MapJob, RefusesOptionsThatItWouldPassOver) {
  SerialExecutor one;
  const SimulatedTod source(test::small_simulation(), nullptr);
  const auto says = [&](const auto& change, const char* what) {
    MapJob job = test_job(10);
    change(job);
    const auto refused = thrown_by([&] { (void)solve_maps(source, job, one); });
    return refused.status == Status::kUsage && refused.says(what);
  };
  const auto all = [](MapJob& job) { job.prior = true, job.step_s = 0; };
  EXPECT_TRUE(says(all, "--prior"));
  EXPECT_TRUE(says([](MapJob& job) { job.filters.ground.split = true; }, "--ground-split"));
  EXPECT_TRUE(says([](MapJob& job) { job.filters.ground.trend.reset(); }, "--ground-trend"));
}

/// Observations whose detectors are left out one by one: the first from the second on.
class Fewer final : public TodSource {
 public:
  explicit Fewer(const TodSource& source) {
    for (std::size_t i = 0; i < source.observations(); ++i) {
      observations_.push_back(source.observation(i));
      auto& detectors = observations_.back().plane.detectors;
      if (i > 0) detectors.erase(detectors.begin());
    }
  }
  [[nodiscard]] std::size_t observations() const override { return observations_.size(); }
  [[nodiscard]] const Observation& observation(std::size_t number) const override {
    return observations_[number];
  }
  [[nodiscard]] Boresight boresight(std::size_t /*number*/) const override { return {}; }
  void read(std::size_t /*number*/, const Boresight& /*boresight*/, std::size_t /*first*/,
            std::span<const Signal> /*signals*/) const override {}

 private:
  std::vector<Observation> observations_;
};

TEST(SplitPlan, HasADetectorInTheSamePartInAllObservations) {
  const SimulatedTod whole(test::small_simulation(), nullptr);
  const SplitPlan plan(Fewer(whole), split_of("detectors"));
  for (std::size_t d = 0; d < 14; ++d) {
    EXPECT_EQ(plan.part(0, d, 0), d % 2);
    if (d == 0) continue;
    EXPECT_EQ(plan.part(1, d - 1, 0), d % 2) << d;
  }
}

TEST(SimulateJob, RefusesOptionsOfAnotherKindOfScan) {
  const auto refused = [](const char* key, const char* text, const char* schedule) {
    SimulateJob job;
    job.schedule = schedule;
    return thrown_by([&] {
      set_option(simulate_option_rows(), job, key, text);
      (void)simulation_of(job);
    });
  };
  EXPECT_TRUE(refused("scan_rate", "2", "").says("--scan-rate: expected --schedule"));
  EXPECT_TRUE(refused("observations", "3", "s.txt").says("--observations with --schedule"));
  EXPECT_TRUE(refused("spin_minutes", "3", "s.txt").says("--spin-period with --schedule"));
  EXPECT_EQ(refused("hwp_rpm", "3", "s.txt").status, Status::kNotFound);  // the file
  EXPECT_EQ(refused("realization", "4294967296", "").status, Status::kUsage);
  EXPECT_EQ(refused("start", "nan", "").status, Status::kUsage);
}

TEST(MakeMaps, BeginsNothingWhereOneOfItsFilesIsToStay) {
  const TempFolder folder;
  SerialExecutor one;
  const SimulatedTod source(test::small_simulation(), nullptr);
  MapJob job = test::small_maps(folder.file("m"));
  job.overwrite = Overwrite::kNo;
  job.split = split_of("time=3");
  const std::vector<std::string> files = map_files(job);
  ASSERT_EQ(files.size(), 24U);
  EXPECT_EQ(files.back(), folder.file("m/part3_map.fits"));
  std::filesystem::create_directory(folder.file("m"));
  loom::test::write_bytes(files.back(), {});
  const auto refused = thrown_by([&] { make_maps(source, job, one); });
  EXPECT_EQ(refused.status, Status::kOutputExists);
  EXPECT_FALSE(std::filesystem::exists(files.front()));
  std::filesystem::remove(files.back());
  make_maps(source, job, one);
  for (const std::string& path : files) EXPECT_TRUE(std::filesystem::exists(path)) << path;
  const NamedFile input[] = {{"an observation", files[2]}};
  job.overwrite = Overwrite::kYes;
  EXPECT_TRUE(thrown_by([&] { check_map_files(job, {}, input); }).says("is an input"));
}

TEST(InspectFile, KnowsAMapOfAnyNumberOfColumns) {
  const TempFolder folder;
  write_map(folder.file("m.fits"), Overwrite::kYes, Healpix(1),
            {.columns = {"Q", "U"}, .unit = "uK", .frame = "G"},
            [](Pixel p, double* out) { out[0] = out[1] = p == 3 ? kUnseen : 1; });
  const FileReport report = inspect_file(folder.file("m.fits"));
  const std::vector<std::pair<std::string, std::string>> expected{
      {"Nside", "1"},     {"pixels", "12"}, {"frame", "G"},
      {"columns", "Q U"}, {"unit", "uK"},   {"without a value", "1"}};
  EXPECT_EQ(report.facts, expected);
}

}  // namespace
}  // namespace skyloom
