// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "fiberloom/formats/formats_test_support.hpp"

namespace fiberloom {
namespace {

TEST(StandardStarFile, HasAFiberForEachStar) {
  const auto reading = [](const std::vector<double>& fibers) {
    return test::in_memory(
        [&](fits::FitsWriter& w) { test::add_standard_stars(w, 2, 30, fibers); });
  };
  const StandardStarFile stars = formats::parse_standard_stars(reading({7, 311}));
  EXPECT_EQ(stars.fibers, (std::vector<std::int64_t>{7, 311}));
  EXPECT_EQ(stars.flux(1, 29), 12.5);
  EXPECT_EQ(stars.wave.size(), 30U);
  const auto status = [&](const std::vector<double>& fibers) {
    return test::thrown_by([&] { (void)formats::parse_standard_stars(reading(fibers)); }).status;
  };
  EXPECT_EQ(status({7}), Status::kWrongShape);
  EXPECT_EQ(status({7, -1}), Status::kCorrupt);
}

TEST(StandardStarFile, ComesBackAsItWasWritten) {
  const test::TempFolder folder;
  const std::string path = folder.file("stdstars-0-00000011.fits");
  StandardStarFile stars;
  stars.wave = {5900, 5900.1, 5900.25};
  stars.flux = Array2D<double>(2, 3, 12.5);
  stars.fibers = {7, 311};
  const std::vector<double> teff{6000, 6100};
  stars.metadata.emplace().add("TEFF", std::span<const double>(teff), "K");
  stars.coefficients = Array2D<double>(2, 5, 0.2);
  stars.fibermap = to_table(test::sample_fibermap(2));
  const std::vector<std::int32_t> night{20260101};
  stars.input_frames.emplace().add("NIGHT", std::span<const std::int32_t>(night));
  write_standard_stars(path, stars, Overwrite::kYes);
  const StandardStarFile back = read_standard_stars(path);
  EXPECT_EQ(back.fibers, stars.fibers);
  EXPECT_EQ(back.wave, stars.wave);
  EXPECT_EQ(back.flux(1, 2), 12.5);
  EXPECT_EQ(back.metadata->column("TEFF"), teff);
  std::string names;
  for (const HduSummary& hdu : list_hdus(path)) names += hdu.name + " ";
  EXPECT_EQ(names, "FLUX WAVELENGTH FIBERS METADATA COEFF FIBERMAP INPUT_FRAMES ");
  stars.fibers.pop_back();
  EXPECT_EQ(test::thrown_by([&] { write_standard_stars(path, stars, Overwrite::kYes); }).status,
            Status::kInternal);
}

/// `hdus`: how many of fluxes, nodes, wavelengths there are.
fits::FitsReader stellar_grid(int hdus, const HeaderCards& cards, std::size_t rows = 2,
                              const char* metal = "FEH") {
  return test::in_memory([&](fits::FitsWriter& w) {
    const std::vector<double> flux{1, 2, 3, 4, 5, 6}, wave{4000, 4001, 4002.5};
    w.image("FLUX", std::span<const double>(flux), {3, 2}, fits::PixelType::kFloat32, cards);
    if (hdus < 2) return;
    const std::vector<double> column(rows, 4.5);
    w.table("MODELS", fits::TableBuilder(rows)
                          .add("TEFF", column)
                          .add("LOGG", column)
                          .add(metal, column)
                          .build());
    if (hdus < 3) return;
    w.image("WAVELENGTH", std::span<const double>(wave), {3}, fits::PixelType::kFloat64);
  });
}

TEST(StellarGridFile, HasModelsWithTheirParametersAndWavelengths) {
  const StellarGridFile grid = formats::parse_stellar_grid(stellar_grid(3, {}));
  EXPECT_EQ(grid.nmodel(), 2U);
  EXPECT_EQ(grid.flux(1, 2), 6);
  EXPECT_EQ(grid.wave, (std::vector<double>{4000, 4001, 4002.5}));
  EXPECT_EQ(grid.metal[1], 4.5);
}

TEST(StellarGridFile, OfOldHasWavelengthsByKeywords) {
  HeaderCards cards;
  cards.set("CRVAL1", 4000.0);
  cards.set("CRPIX1", 1.0);
  cards.set("CDELT1", 2.0);
  cards.set("LOGLAM", 0.0);
  EXPECT_EQ(formats::parse_stellar_grid(stellar_grid(2, cards)).wave,
            (std::vector<double>{4000, 4002, 4004}));
  cards.set("LOGLAM", 1.0);
  cards.set("CRVAL1", 3.5);
  cards.set("CDELT1", 1e-4);
  EXPECT_NEAR(formats::parse_stellar_grid(stellar_grid(2, cards)).wave[2], std::pow(10, 3.5002),
              1e-9);
}

TEST(StellarGridFile, WhatDoesNotFitIsNamed) {
  const auto status = [](int hdus, std::size_t rows, const char* metal) {
    return test::thrown_by(
               [&] { (void)formats::parse_stellar_grid(stellar_grid(hdus, {}, rows, metal)); })
        .status;
  };
  EXPECT_EQ(status(1, 2, "FEH"), Status::kMissingHdu);
  EXPECT_EQ(status(2, 2, "FEH"), Status::kMissingKeyword) << "no CRVAL1";
  EXPECT_EQ(status(3, 3, "FEH"), Status::kWrongShape);
  EXPECT_EQ(status(3, 2, "METALS"), Status::kMissingKeyword);
}

TEST(PassbandFile, IsTextOfWavelengthsAndResponses) {
  const std::string text =
      "# %ECSV 0.9\n# datatype:\n# - {name: wavelength, unit: nm, datatype: float64}\n"
      "wavelength response\n400.0 0.0\n401.5 0.25\n403 0\n";
  const Passband band = parse_passband(text, "x-g.ecsv");
  EXPECT_EQ(band.wave, (std::vector<double>{4000, 4015, 4030}));
  EXPECT_EQ(band.response, (std::vector<double>{0, 0.25, 0}));
}

TEST(PassbandFile, WhatIsNoneIsNamedWithItsLine) {
  const auto fault = [](const std::string& rows, const std::string& unit = "nm") {
    return test::thrown_by([&] {
      (void)parse_passband("# - {name: wavelength, unit: " + unit + ", datatype: float64}\n" + rows,
                           "x-g.ecsv");
    });
  };
  for (const char* rows :
       {"", "wavelength response\n1 0\n2 1\n", "1 0\n2 1\n3 0\n",
        "wavelength response\n1 0\n1 1\n3 0\n", "wavelength response\n1 0\n2 nan\n3 0\n",
        "wavelength response\n1 0\n2 -1\n3 0\n", "wavelength response\n1 0\n2 1 7\n3 0\n"}) {
    EXPECT_EQ(fault(rows).status, Status::kCorrupt) << rows;
  }
  EXPECT_EQ(fault("wavelength response\n1 0\n2 1\n3 0\n", "furlong").status, Status::kCorrupt);
  EXPECT_TRUE(fault("wavelength response\n1 0\nx 1\n").says("line 4"));
}

}  // namespace
}  // namespace fiberloom
