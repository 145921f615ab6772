// SPDX-License-Identifier: BSD-3-Clause
// Scans that are not as they should be, in a fixed sequence: whatever a file holds, there is a
// volume of numbers or one error that names the file. FIBERLOOM_REPLAY_ROUNDS asks for more.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "loom/hdf5/hdf5.hpp"
#include "loom/runtime/executors.hpp"
#include "loom/testing/dice.hpp"
#include "loom/testing/test_files.hpp"
#include "tomoloom/recipes/inspect_file.hpp"
#include "tomoloom/recipes/recon_scan.hpp"
#include "tomoloom/recipes/simulate_scan.hpp"

/// libhdf5 loses a few hundred bytes of its own where a file is damaged: no fault of ours.
extern "C" const char* __lsan_default_suppressions();  // NOLINT: the sanitizer's name for it
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

namespace tomoloom {
namespace {

using hdf5::Type;
using loom::test::Dice;
using loom::test::read_bytes;
using loom::test::replay_rounds;
using loom::test::TempFolder;
using loom::test::with_changed_bytes;
using loom::test::write_bytes;

constexpr std::array kTypes{Type::kUint16,  Type::kUint16, Type::kUint8,
                            Type::kInt8,    Type::kInt32,  Type::kUint32,
                            Type::kFloat32, Type::kInt64,  Type::kFloat64};
constexpr std::array kOddNumbers{NAN, INFINITY, -INFINITY, 0.0F, -1.0F, 1e38F, 65535.0F, 1e-38F};

class ScanReplay : public testing::Test {
 protected:
  void SetUp() override {
    if (!hdf5::available()) GTEST_SKIP() << "built without HDF5";
  }
  /// Numbers of a set, most of them plausible.
  static void numbers(hdf5::Writer& writer, Dice& dice, const std::string& name,
                      const std::vector<std::size_t>& shape, double step) {
    const bool chunked = shape.size() == 3 && dice.one_in(2);
    std::vector<std::size_t> chunk;
    for (const std::size_t n : shape) {
      chunk.push_back(1 + dice.below(std::clamp<std::size_t>(n, 1, 64)));
    }
    if (!chunked) chunk.clear();
    writer.create(name, kTypes[dice.below(kTypes.size())], shape, chunk);
    std::size_t all = 1;
    for (const std::size_t n : shape) all *= n;
    if (all == 0 || all > 100000 || dice.one_in(20)) return;  // what is not written is 0
    std::vector<float> values(all);
    const bool odd = dice.one_in(4);
    for (std::size_t i = 0; i < all; ++i) {
      values[i] = static_cast<float>(step * static_cast<double>(i % 97));
      if (odd && dice.one_in(10)) values[i] = kOddNumbers[dice.below(kOddNumbers.size())];
    }
    writer.write(name, 0, std::span<const float>(values));
  }
  /// A shape that fits, or does not.
  static std::vector<std::size_t> bent(Dice& dice, std::vector<std::size_t> shape) {
    if (!dice.one_in(6)) return shape;
    switch (dice.below(4)) {
      case 0:
        shape.push_back(2);
        break;
      case 1:
        shape.erase(shape.begin());
        break;
      case 2:
        shape[dice.below(shape.size())] = dice.below(3);
        break;
      default:
        shape[dice.below(shape.size())] = std::size_t{1} << (14 + dice.below(30));
    }
    if (shape.empty()) shape.push_back(1);
    return shape;
  }
  void write_scan(Dice& dice) const {
    const std::size_t angles = 1 + dice.below(20), rows = 1 + dice.below(40);
    const std::size_t columns = 2 + dice.below(30);
    hdf5::Writer writer(scan, Overwrite::kYes);
    const auto sometimes = [&](std::size_t n, const std::string& name,
                               const std::vector<std::size_t>& shape, double step) {
      if (dice.one_in(n)) return;
      if (dice.one_in(30)) return writer.text(name, "not numbers");
      numbers(writer, dice, name, bent(dice, shape), step);
    };
    sometimes(30, "exchange/data", {angles, rows, columns}, 300);
    sometimes(6, "exchange/data_white", {1 + dice.below(3), rows, columns}, 600);
    sometimes(6, "exchange/data_dark", {1 + dice.below(3), rows, columns}, 1);
    sometimes(4, "exchange/theta", {angles}, 180.0 / 97);
    const std::string more = "process/acquisition/";
    sometimes(2, more + "flat_fields/flat_field_value", {1}, 1);
    sometimes(2, more + "rotation/rotation_start", {1}, 1);
    sometimes(2, more + "rotation/rotation_step", {1}, 1);
    writer.commit();
  }
  ReconJob any_job(Dice& dice) const {
    ReconJob job{.scan = scan, .output = volume};
    job.method = dice.one_in(2) ? Method::kExact : Method::kGridrec;
    job.input = static_cast<InputKind>(dice.below(6) % 3);
    job.averaging = dice.one_in(2) ? Averaging::kMean : Averaging::kMedian;
    job.stripe.method = static_cast<Stripe>(dice.below(11));
    job.stripe.size = dice.below(40);
    job.stripe.order = dice.below(8);
    job.stripe.level = dice.below(8);
    job.stripe.blocks = dice.below(8);
    job.outlier = dice.one_in(3) ? 0.2 : 0;
    if (dice.one_in(3)) job.search = dice.one_in(2) ? AxisSearch::kTurn : AxisSearch::kPairs;
    job.memory = std::uint64_t{1} << 30;
    return job;
  }
  /// A whole volume without a number that is none, or an error that names the scan or the output.
  void reconstruct(const ReconJob& job) {
    std::filesystem::remove(volume);
    try {
      (void)inspect_file(job.scan, job.group);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(scan), std::string::npos) << error.what();
    }
    try {
      const ReconSummary summary = reconstruct_scan(job, serial);
      const hdf5::Reader reader(volume);
      EXPECT_EQ(reader.extent("exchange/data").at(0), summary.slices);
      for (const double value : reader.read("exchange/data")) ASSERT_TRUE(std::isfinite(value));
      ++volumes;
    } catch (const Error& error) {
      EXPECT_NE(error.status(), Status::kInternal) << error.what();
      EXPECT_NE(std::string(error.what()).find(scan), std::string::npos) << error.what();
      EXPECT_FALSE(std::filesystem::exists(volume)) << error.what();
    }
  }

  const TempFolder folder;
  const std::string scan = folder.file("scan.h5"), volume = folder.file("volume.h5");
  SerialExecutor serial;
  std::size_t volumes = 0;
};

TEST_F(ScanReplay, AnyScanBecomesAVolumeOfNumbersOrAnError) {
  const std::size_t all = replay_rounds(300);
  for (std::size_t i = 0; i < all; ++i) {
    SCOPED_TRACE(i);
    Dice dice(i);
    write_scan(dice);
    reconstruct(any_job(dice));
    if (HasFailure()) return;
  }
  EXPECT_GT(volumes, all / 5);
  EXPECT_LT(volumes, all * 4 / 5);
}

TEST_F(ScanReplay, AFileThatEndsAnywhereIsCorrupt) {
  simulate_scan({.output = scan, .truth = {}, .columns = 16, .rows = 3, .angles = 12}, serial);
  const std::vector<std::uint8_t> whole = read_bytes(scan);
  Dice dice(1);
  for (std::size_t i = 0; i < 100; ++i) {
    write_bytes(scan, std::span(whole).first(dice.below(whole.size())));
    reconstruct({.scan = scan, .output = volume});
  }
  EXPECT_EQ(volumes, 0U);
}

TEST_F(ScanReplay, BytesThatWereChangedGiveAVolumeOfNumbersOrAnError) {
  simulate_scan({.output = scan, .truth = {}, .columns = 16, .rows = 3, .angles = 12}, serial);
  const std::vector<std::uint8_t> whole = read_bytes(scan);
  const std::size_t all = replay_rounds(200);
  for (std::size_t i = 0; i < all; ++i) {
    SCOPED_TRACE(i);
    Dice dice(i);
    write_bytes(scan, with_changed_bytes(whole, 3000, dice));
    reconstruct({.scan = scan, .output = volume, .memory = std::uint64_t{1} << 30});
    if (HasFailure()) return;
  }
  EXPECT_GT(volumes, 0U);
  EXPECT_LT(volumes, all);
}

}  // namespace
}  // namespace tomoloom
