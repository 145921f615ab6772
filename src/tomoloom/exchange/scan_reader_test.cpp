// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/exchange/scan_reader.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "loom/testing/test_files.hpp"
#include "tomoloom/exchange/scan_writer.hpp"
#include "tomoloom/exchange/volume_writer.hpp"
#include "tomoloom/status.hpp"

namespace tomoloom {
namespace {

using loom::test::TempFolder;
using loom::test::thrown_by;

class ScanFiles : public testing::Test {
 protected:
  void SetUp() override {
    if (!hdf5::available()) GTEST_SKIP() << "built without HDF5";
  }
  /// A file with data [angles][2][3] and whatever `more` adds.
  template <class More>
  std::string file(const char* name, std::size_t angles, const More& more,
                   const std::string& group = "exchange",
                   hdf5::Type type = hdf5::Type::kFloat32) const {
    const std::string path = folder.file(name);
    hdf5::Writer writer(path, Overwrite::kYes);
    writer.create(group + "/data", type, {angles, 2, 3});
    std::vector<float> values(angles * 6);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    writer.write(group + "/data", 0, std::span<const float>(values));
    more(writer);
    writer.commit();
    return path;
  }
  static void numbers(hdf5::Writer& writer, const std::string& name,
                      const std::vector<double>& values) {
    writer.create(name, hdf5::Type::kFloat64, {values.size()});
    writer.write(name, 0, std::span<const double>(values));
  }
  static void nothing(hdf5::Writer& /*writer*/) {}

  const TempFolder folder;
};

TEST_F(ScanFiles, WhatIsWrittenIsRead) {
  const std::string path = folder.file("scan.h5");
  const std::vector<double> theta{0, 60, 120};
  const std::vector<std::uint16_t> white{9, 9, 9, 9, 9, 60000}, dark{1, 2, 3, 4, 5, 6};
  {
    ScanWriter writer(path, Overwrite::kYes,
                      {.angles = 3, .rows = 2, .columns = 3, .flats = 1, .darks = 2}, theta);
    for (std::size_t a = 0; a < 3; ++a) {
      std::vector<std::uint16_t> frame(6);
      for (std::size_t i = 0; i < 6; ++i) frame[i] = static_cast<std::uint16_t>(100 * a + i);
      writer.projection(a, frame);
    }
    writer.flat(0, white);
    writer.dark(0, dark);
    writer.dark(1, dark);
    writer.note("centre", 1.5);
    writer.note("phantom", "disc");
    writer.commit();
  }
  const ScanReader reader(path, "exchange");
  const ScanLayout& layout = reader.layout();
  EXPECT_EQ(layout.angles, 3U);
  EXPECT_EQ(layout.rows, 2U);
  EXPECT_EQ(layout.columns, 3U);
  EXPECT_EQ(layout.flats, 1U);
  EXPECT_EQ(layout.darks, 2U);
  EXPECT_EQ(layout.theta_deg, theta);
  EXPECT_EQ(layout.source, AngleSource::kTheta);
  EXPECT_EQ(layout.type, "uint16");
  FrameBlock block;
  reader.projections(1, 1, block);
  EXPECT_EQ(block.counts, (LargeVector<std::uint16_t>{3, 4, 5, 103, 104, 105, 203, 204, 205}));
  reader.flats(1, 1, block);
  EXPECT_EQ(block.counts, (LargeVector<std::uint16_t>{9, 9, 60000}));
  reader.darks(0, 1, block);
  EXPECT_EQ(block.counts, (LargeVector<std::uint16_t>{1, 2, 3, 1, 2, 3}));
}

TEST_F(ScanFiles, OtherGroupsAndOtherNumbersAreRead) {
  const ScanReader reader(file("a.h5", 2, nothing, "exchange1", hdf5::Type::kInt32), "exchange1");
  EXPECT_EQ(reader.layout().type, "int32");
  EXPECT_EQ(reader.layout().flats, 0U);
  FrameBlock block;
  reader.projections(0, 1, block);
  EXPECT_EQ(block.floats, (LargeVector<float>{0, 1, 2, 6, 7, 8}));
}

TEST_F(ScanFiles, AnglesComeFromTheBestPlaceThatThereIs) {
  const ScanReader assumed(file("none.h5", 3, nothing), "exchange");
  EXPECT_EQ(assumed.layout().source, AngleSource::kAssumed);
  EXPECT_EQ(assumed.layout().theta_deg, (std::vector<double>{0, 90, 180}));
  const ScanReader rotation(file("rotation.h5", 3,
                                 [](hdf5::Writer& w) {
                                   numbers(w, "process/acquisition/rotation/rotation_start", {10});
                                   numbers(w, "process/acquisition/rotation/rotation_step", {0.5});
                                 }),
                            "exchange");
  EXPECT_EQ(rotation.layout().source, AngleSource::kRotation);
  EXPECT_EQ(rotation.layout().theta_deg, (std::vector<double>{10, 10.5, 11}));
  const ScanReader turned(file("turned.h5", 3,
                               [](hdf5::Writer& w) {
                                 const std::string step =
                                     "process/acquisition/rotation/rotation_step";
                                 numbers(w, "process/acquisition/rotation/rotation_start", {90});
                                 numbers(w, step, {0.5});
                                 w.describe(step, "units", "rad");
                               }),
                          "exchange");
  EXPECT_DOUBLE_EQ(turned.layout().theta_deg[1], 90 + 90 / std::numbers::pi);
  const ScanReader radians(file("radians.h5", 3,
                                [](hdf5::Writer& w) {
                                  numbers(w, "exchange/theta", {0, 0.25, 0.5});
                                  w.describe("exchange/theta", "units", "radian");
                                }),
                           "exchange");
  EXPECT_EQ(radians.layout().source, AngleSource::kTheta);
  EXPECT_DOUBLE_EQ(radians.layout().theta_deg[2], 90 / std::numbers::pi);
}

TEST_F(ScanFiles, AnglesAreInDegreesOrRadiansWhateverTheLetters) {
  const auto in = [&](const char* unit) {
    return ScanReader(file("units.h5", 3,
                           [&](hdf5::Writer& w) {
                             numbers(w, "exchange/theta", {0, 0.25, 0.5});
                             w.describe("exchange/theta", "units", unit);
                           }),
                      "exchange")
        .layout();
  };
  EXPECT_DOUBLE_EQ(in("RAD").theta_deg[2], 90 / std::numbers::pi);
  for (const char* degrees : {"Degrees", "deg", " deg", "\u00b0", ""}) {
    EXPECT_EQ(in(degrees).theta_deg[2], 0.5) << degrees;
    EXPECT_EQ(in(degrees).strange_unit, "") << degrees;
  }
  for (const char* other : {"mrad", "arcsec", "turns"}) EXPECT_EQ(in(other).strange_unit, other);
}

TEST_F(ScanFiles, ValuesStandForFlatsAndDarks) {
  const ScanReader reader(
      file("values.h5", 2,
           [](hdf5::Writer& w) {
             numbers(w, "process/acquisition/flat_fields/flat_field_value", {40000});
             numbers(w, "process/acquisition/dark_fields/dark_field_value", {100});
           }),
      "exchange");
  EXPECT_TRUE(reader.layout().has_flat_value);
  EXPECT_EQ(reader.layout().flat_value, 40000);
  EXPECT_EQ(reader.layout().dark_value, 100);
}

TEST_F(ScanFiles, NumbersMayStandAloneAndSetsMayBeEmpty) {
  const auto alone = [](hdf5::Writer& w, const std::string& name, double value) {
    w.create(name, hdf5::Type::kFloat64, {});
    w.write_box(name, {}, {}, std::vector<double>{value});
  };
  const std::string path = file("alone.h5", 3, [&](hdf5::Writer& w) {
    alone(w, "process/acquisition/flat_fields/flat_field_value", 40000);
    alone(w, "process/acquisition/rotation/rotation_start", 10);
    alone(w, "process/acquisition/rotation/rotation_step", 0.5);
    alone(w, "process/acquisition/rotation/num_angles", 7);
    w.create("exchange/data_white", hdf5::Type::kUint16, {0, 2, 3});  // for those to come
    w.create("exchange/data_dark", hdf5::Type::kUint16, {0, 2, 3});
  });
  const ScanReader reader(path, "exchange", hdf5::Writing::kMayGoOn);
  const ScanLayout& layout = reader.layout();
  EXPECT_EQ(layout.flats + layout.darks, 0U);
  EXPECT_EQ(layout.flat_value, 40000);
  EXPECT_FALSE(layout.has_dark_value);
  EXPECT_EQ(layout.theta_deg, (std::vector<double>{10, 10.5, 11}));
  EXPECT_EQ(layout.expected, 7U);
  const std::string single =
      file("single.h5", 1, [&](hdf5::Writer& w) { alone(w, "exchange/theta", 42); });
  EXPECT_EQ(ScanReader(single, "exchange").layout().theta_deg, (std::vector<double>{42}));
}

TEST_F(ScanFiles, FlatsOfFractionsBesideCountsStayFractions) {
  const std::string path = file(
      "mixed.h5", 2,
      [](hdf5::Writer& w) {
        w.create("exchange/data_white", hdf5::Type::kFloat32, {2, 3});
        const std::vector<float> white{0.25F, 70000.5F, 3, 4, 5, 6};
        w.write("exchange/data_white", 0, std::span<const float>(white));
      },
      "exchange", hdf5::Type::kUint16);
  const ScanReader reader(path, "exchange");
  EXPECT_EQ(reader.layout().type, "uint16");
  FrameBlock block;
  reader.flats(0, 1, block);
  EXPECT_EQ(block.floats, (LargeVector<float>{0.25F, 70000.5F, 3}));
  reader.projections(1, 1, block);
  EXPECT_EQ(block.floats, (LargeVector<float>{3, 4, 5, 9, 10, 11}));
}

TEST_F(ScanFiles, WhatDoesNotFitIsOneLineAndACode) {
  const auto open = [](const std::string& path, const std::string& group = "exchange") {
    return thrown_by([&] { ScanReader reader(path, group); });
  };
  EXPECT_EQ(open(folder.file("absent.h5")).status, Status::kNotFound);
  const std::string good = file("good.h5", 2, nothing);
  const auto other = open(good, "exchange7");
  EXPECT_EQ(other.status, Status::kMissingHdu);
  EXPECT_TRUE(
      other.says("no data set exchange7/data as Data Exchange has it (--group); there is "
                 "exchange"))
      << other.message;
  const auto angles = open(file("few.h5", 3, [](hdf5::Writer& w) {
    numbers(w, "exchange/theta", {0, 1});
  }));
  EXPECT_EQ(angles.status, kScanMismatch);
  EXPECT_TRUE(angles.says("found 2 angles, expected 3")) << angles.message;
  EXPECT_EQ(
      open(file("nan.h5", 1, [](hdf5::Writer& w) { numbers(w, "exchange/theta", {0.0 / 0.0}); }))
          .status,
      kScanMismatch);
  const auto flats = open(file("flats.h5", 1, [](hdf5::Writer& w) {
    w.create("exchange/data_white", hdf5::Type::kFloat32, {1, 2, 4});
  }));
  EXPECT_EQ(flats.status, kScanMismatch);
  EXPECT_TRUE(flats.says("found 1 x 2 x 4, expected frames of 2 x 3")) << flats.message;
  const std::string flat = folder.file("flat.h5");
  {
    hdf5::Writer writer(flat, Overwrite::kYes);
    writer.create("exchange/data", hdf5::Type::kFloat32, {4, 3});
    writer.commit();
  }
  EXPECT_EQ(open(flat).status, Status::kWrongShape);
}

TEST_F(ScanFiles, SizesThatNoScanHasAreRefusedBeforeAnythingIsRead) {
  const auto open = [](const std::string& path) {
    return thrown_by([&] { ScanReader reader(path, "exchange"); });
  };
  const auto theta = open(file("theta.h5", 2, [](hdf5::Writer& w) {
    w.create("exchange/theta", hdf5::Type::kFloat64, {std::size_t{1} << 40, 1 << 20});
  }));
  EXPECT_EQ(theta.status, kScanMismatch);
  EXPECT_TRUE(theta.says("expected 2, one a projection")) << theta.message;
  const std::string wide = folder.file("wide.h5");
  {
    hdf5::Writer writer(wide, Overwrite::kYes);
    writer.create("exchange/data", hdf5::Type::kUint16, {3, 4, std::size_t{1} << 40});
    writer.commit();
  }
  EXPECT_EQ(open(wide).status, Status::kWrongShape);
  EXPECT_TRUE(open(wide).says("found 3 x 4 x 1099511627776")) << open(wide).message;
}

TEST_F(ScanFiles, AVolumeSaysWhichRowsItIsOf) {
  const std::string path = folder.file("volume.h5");
  const std::vector<VolumeNote> notes{{"method", "exact"}};
  {
    VolumeWriter writer(path, Overwrite::kYes, {.slices = 3, .width = 2, .first_row = 40}, notes);
    const std::vector<float> late{9, 10, 11, 12}, early{1, 2, 3, 4, 5, 6, 7, 8};
    writer.write(2, late);
    writer.write(0, early);
    writer.commit();
  }
  const hdf5::Reader reader(path);
  EXPECT_EQ(reader.extent("exchange/data"), (std::vector<std::size_t>{3, 2, 2}));
  EXPECT_EQ(reader.read_row("exchange/data", 2), (std::vector<double>{9, 10, 11, 12}));
  EXPECT_EQ(reader.read_integers("exchange/row"), (std::vector<std::int64_t>{40, 41, 42}));
  EXPECT_EQ(reader.text("process/tomoloom/method"), "exact");
}

}  // namespace
}  // namespace tomoloom
