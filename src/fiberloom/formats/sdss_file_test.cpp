// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/formats/sdss_file.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <numeric>

#include "fiberloom/formats/sdss_test_files.hpp"
#include "fiberloom/formats/spectra_reader.hpp"

namespace fiberloom {
namespace {

using test::PlateLook;

SpectraReader plate(const PlateLook& look = {}, AndMask and_mask = AndMask::kIgnore) {
  return SpectraReader(test::in_memory([&](fits::FitsWriter& w) { test::add_plate(w, look); }),
                       and_mask);
}

SpectraReader spec(std::size_t first, std::size_t m, double off = 0,
                   AndMask and_mask = AndMask::kIgnore) {
  return SpectraReader(
      test::in_memory([&](fits::FitsWriter& w) { test::add_spec(w, first, m, off); }), and_mask);
}

/// sqrt of the second moment of column j of R, in pixels.
double width_of(const Spectra& s, std::size_t row, std::size_t j) {
  double sum = 0, second = 0;
  const std::size_t nd = s.resolution.rows();
  for (std::size_t k = 0; k < nd; ++k) {
    const double d = static_cast<double>(k) - static_cast<double>(nd / 2);
    sum += static_cast<double>(s.resolution(row, k, j));
    second += d * d * static_cast<double>(s.resolution(row, k, j));
  }
  return std::sqrt(second / sum);
}

TEST(SdssPlate, FibersAreTargetsOnOneGrid) {
  const SpectraReader reader = plate({.n = 3, .m = 40});
  ASSERT_EQ(reader.cameras().size(), 1U);
  EXPECT_EQ(reader.cameras()[0].name, "BR");
  EXPECT_EQ(reader.nspec(), 3U);
  EXPECT_NEAR(reader.cameras()[0].wave[10], std::pow(10, 3.601), 1e-9);
  const auto ids = reader.fibermap->integers("TARGETID", -1);
  EXPECT_EQ(*ids, (std::vector<std::int64_t>{3586551810001, 3586551810002, 3586551810003}));
  EXPECT_EQ(*reader.fibermap->text_column("OBJTYPE"),
            (std::vector<std::string>{"TGT", "SKY", "TGT"}));
  EXPECT_EQ(reader.fibermap->column("TARGET_RA")->at(2), 152.0);
  const std::vector<std::size_t> rows{2, 0};
  const Spectra found = reader.read(0, rows);
  EXPECT_EQ(found.flux(0, 7), 27);
  EXPECT_EQ(found.flux(1, 7), 7);
  EXPECT_EQ(found.ivar(0, 7), 0.25);
  EXPECT_TRUE(found.mask.empty());
  EXPECT_NEAR(width_of(found, 0, 20), 1, 0.02);
  EXPECT_NEAR(width_of(found, 0, 4), 2, 0.7) << "no width is known there: 2 pixels, near the end";
}

TEST(SdssPlate, BitsOfAndMaskCountWhereTheyAreAskedFor) {
  const std::vector<std::size_t> rows{1};
  const Spectra found = plate({}, AndMask::kUse).read(0, rows);
  for (std::size_t j = 0; j < found.nwave(); ++j) EXPECT_EQ(found.mask(0, j) != 0, j == 3);
}

TEST(SdssPlate, PixelsBeyondThePeersLimitsAreCutOff) {
  // 3499.45 Angstrom is pixel 35440; 3500.26, which is nearer to the limit, pixel 35441
  const SpectraReader low = plate({.n = 2, .m = 30, .first = 35430});
  ASSERT_EQ(low.cameras()[0].wave.size(), 19U);
  EXPECT_NEAR(low.cameras()[0].wave[0], std::pow(10, 3.5441), 1e-9);
  const std::vector<std::size_t> rows{1};
  EXPECT_EQ(low.read(0, rows).flux(0, 0), 10 + 11);
  EXPECT_EQ(low.read(0, rows).resolution.cols(), 19U);
  const SpectraReader high = plate({.n = 2, .m = 30, .first = 39990});
  EXPECT_EQ(high.cameras()[0].wave.size(), 10U);
  EXPECT_LT(high.cameras()[0].wave.back(), 10000);
}

TEST(SdssSpec, StandsOnTheGridOfAllOthers) {
  const SpectraReader a = spec(36040, 300), b = spec(36050, 280);
  EXPECT_EQ(a.cameras()[0].wave, b.cameras()[0].wave);
  ASSERT_EQ(a.cameras()[0].wave.size(), 320U);  // 64 x 563 to 64 x 568
  EXPECT_EQ(spec(35430, 60).cameras()[0].wave.front(), std::pow(10.0, 35441 * 1e-4));
  EXPECT_EQ(a.fibermap->integers("TARGETID", -1)->front(), 3586551810017);
  EXPECT_EQ(*a.fibermap->text_column("SDSS_OBJTYPE"), std::vector<std::string>{"QSO"});
  const std::vector<std::size_t> rows{0};
  const Spectra found = b.read(0, rows);
  const std::size_t at = 36050 - 36032;
  EXPECT_EQ(found.flux(0, at + 279), 279);
  EXPECT_EQ(found.ivar(0, at + 279), 0.5);
  EXPECT_EQ(found.ivar(0, at + 280), 0);
  EXPECT_EQ(std::accumulate(found.ivar.data(), found.ivar.data() + found.ivar.size(), 0.0), 140);
  EXPECT_NEAR(width_of(found, 0, at + 12), 1, 0.02);
}

TEST(SdssSpec, WavelengthsOfItsOwnStayAsTheyAre) {
  const SpectraReader reader = spec(36000, 20, 0.4);
  ASSERT_EQ(reader.cameras()[0].wave.size(), 20U);
  EXPECT_NEAR(reader.cameras()[0].wave[0], std::pow(10, 3.60004), 2e-3);
  const std::vector<std::size_t> rows{0, 0};
  EXPECT_EQ(reader.read(0, rows).flux(1, 5), 5);
}

TEST(SdssSpec, IsTheSpectrumOfItsPlate) {
  const SpectraReader all = plate({.n = 2, .m = 40}), one = spec(36000, 40);
  const std::vector<std::size_t> rows{0};
  const Spectra a = all.read(0, rows), b = one.read(0, rows);
  const std::size_t at = 36000 - 35968;
  EXPECT_NEAR(a.wave[20], b.wave[at + 20], 1e-8);
  for (std::size_t k = 0; k < a.resolution.rows() && k < 3; ++k) {
    EXPECT_NEAR(a.resolution(0, a.resolution.rows() / 2 + k, 20),
                b.resolution(0, b.resolution.rows() / 2 + k, at + 20), 1e-6);
  }
}

TEST(SdssSpec, BitsOfAndMaskCountWhereTheyAreAskedFor) {
  const std::vector<std::size_t> rows{0};
  EXPECT_TRUE(spec(36000, 12).read(0, rows).mask.empty());
  const Spectra found = spec(36000, 12, 0, AndMask::kUse).read(0, rows);
  EXPECT_EQ(found.mask(0, 36003 - 35968), 1U);
  EXPECT_EQ(found.mask(0, 36004 - 35968), 0U);
}

TEST(SdssSpec, ThousandsOfFilesStayClosed) {
  const test::TempFolder folder;
  const std::string path = folder.file("spec.fits");
  fits::write_fits(path, Overwrite::kYes, [](fits::FitsWriter& w) { test::add_spec(w); });
  std::deque<SpectraReader> readers;
  for (int i = 0; i < 1500; ++i) readers.emplace_back(path);  // a process may open 1024
  const std::vector<std::size_t> rows{0};
  EXPECT_EQ(readers.back().read(0, rows).flux(0, 36005 - 35968), 5);
}

SpectraReader sdss_frame(const test::SdssFrameLook& look, AndMask and_mask = AndMask::kIgnore) {
  return SpectraReader(test::in_memory([&](fits::FitsWriter& w) { test::add_sdss_frame(w, look); }),
                       and_mask);
}

TEST(SdssFrame, EachFibreHasItsOwnWavelengths) {
  const SpectraReader reader = sdss_frame({.n = 3, .m = 40, .fiber = 4});
  ASSERT_TRUE(reader.has_own_waves());
  ASSERT_EQ(reader.cameras().size(), 1U);
  EXPECT_EQ(reader.cameras()[0].name, "B1");
  EXPECT_EQ(*reader.fibermap->integers("TARGETID", -1),
            (std::vector<std::int64_t>{3586551820004, 3586551820005, 3586551820006}))
      << "fibre f stands in row (f - 1) modulo the rows, whatever the order of the plug map";
  EXPECT_EQ(reader.fibermap->integers("EXPID", -1)->at(2), 116539);
  for (const std::size_t row : {0U, 1U, 2U}) {
    const Spectra found = reader.read(0, std::span(&row, 1));
    EXPECT_NEAR(found.wave[10], std::pow(10, 1e-4 * (36010 + static_cast<double>(row) / 8)), 1e-9);
    EXPECT_EQ(found.flux(0, 7), 10 * static_cast<double>(row) + 7);
    EXPECT_NEAR(width_of(found, 0, 20), 1, 0.02);
  }
  const std::vector<std::size_t> two{0, 1};
  EXPECT_EQ(test::thrown_by([&] { (void)reader.read(0, two); }).status, Status::kInternal);
}

TEST(SdssFrame, ArmsEndWhereThePeersDo) {
  const std::size_t row = 1;
  // 5500 Angstrom are at 37403.63, 6000 at 37781.51
  const Spectra red = sdss_frame({.m = 40, .first = 37390, .camera = "r2"}).read(0, {&row, 1});
  EXPECT_EQ(red.flux(0, 0), 10 + 14) << "0.37 pixels beside pixel 14 of row 0";
  const Spectra blue = sdss_frame({.m = 40, .first = 37770, .camera = "b2"}).read(0, {&row, 1});
  EXPECT_LT(blue.wave.back(), 6000.5);
  EXPECT_LT(blue.nwave(), 13U);
  EXPECT_EQ(sdss_frame({.m = 40, .first = 37000}).cameras()[0].wave.size(), 40U);
}

TEST(SdssFrame, AFibreWithoutWavelengthsHasNoGoodPixel) {
  const SpectraReader reader = sdss_frame({.m = 40, .dead = 0}, AndMask::kUse);
  const std::size_t dead = 0, alive = 2;
  const Spectra none = reader.read(0, {&dead, 1}), some = reader.read(0, {&alive, 1});
  EXPECT_EQ(std::accumulate(none.ivar.data(), none.ivar.data() + none.ivar.size(), 0.0), 0);
  EXPECT_LT(none.wave.front(), none.wave.back());
  EXPECT_EQ(some.ivar(0, 3), 0.25);
  EXPECT_NE(some.mask(0, 3), 0U);
  EXPECT_EQ(some.mask(0, 4), 0U);
}

TEST(SdssFrame, FaultsAreNamed) {
  const auto fault = [](const test::SdssFrameLook& look) {
    return test::thrown_by([&] { (void)sdss_frame(look); }).status;
  };
  EXPECT_EQ(fault({.rows_of_two = true}), Status::kCorrupt);
  EXPECT_EQ(fault({.fiber = 0}), Status::kCorrupt);
  EXPECT_EQ(fault({.n = 1, .dead = 0}), Status::kWrongShape) << "no wavelength near the limits";
  EXPECT_EQ(fault({.m = 1}), Status::kWrongShape);
}

TEST(Sdss, FaultsAreNamed) {
  const auto fault = [](const test::Build& build) {
    return test::thrown_by([&] { (void)SpectraReader(test::in_memory(build)); });
  };
  const auto no_plate = fault([](auto& w) { test::add_plate(w, {.ids = false}); });
  EXPECT_EQ(no_plate.status, Status::kMissingKeyword);
  EXPECT_EQ(no_plate.message, "test.fits: HDU 0: no integer PLATEID");
  EXPECT_EQ(fault([](auto& w) { test::add_plate(w, {.tables = 0}); }).status, Status::kMissingHdu);
  EXPECT_EQ(fault([](auto& w) { test::add_plate(w, {.first = 45000}); }).status,
            Status::kWrongShape);
  EXPECT_EQ(fault([](auto& w) { test::add_spec(w, 36000, 12, 0, false); }).status,
            Status::kMissingKeyword);
  EXPECT_EQ(fault([](auto& w) { test::add_spec(w, 45000); }).status, Status::kWrongShape);
  HeaderCards backwards;
  backwards.set("COEFF0", 3.6);
  backwards.set("COEFF1", -1e-4);
  const auto falls = fault([&](auto& w) {
    for (int k = 0; k < 5; ++k) {
      test::add_image(w, k == 0 ? "" : "X", {8, 2}, fits::PixelType::kFloat32,
                      k == 0 ? backwards : HeaderCards{});
    }
  });
  EXPECT_EQ(falls.status, Status::kCorrupt);
}

}  // namespace
}  // namespace fiberloom
