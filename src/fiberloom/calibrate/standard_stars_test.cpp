// SPDX-License-Identifier: BSD-3-Clause
// Standard stars with photometry of known spectra, through all of it.
#include "fiberloom/calibrate/standard_stars.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "fiberloom/calibrate/test_stars.hpp"
#include "loom/base/executor.hpp"
#include "loom/base/test_status.hpp"

namespace fiberloom::calibrate {
namespace {

/// Bands like the field's, 1000 Angstrom wide each.
Passband wide_band(const std::string& name) {
  const char last = name.back();
  const double middle = last == 'g' ? 4800 : last == 'r' ? 6400 : last == 'z' ? 9100 : 6000;
  Passband out;
  for (int i = 0; i <= 50; ++i) {
    out.wave.push_back(middle - 500 + 20.0 * i);
    out.response.push_back(std::max(0.0, 1 - std::pow((i - 25) / 25.0, 2)));
  }
  return out;
}

struct StarsOfKnownFlux {
  std::vector<test::StarPlace> places;
  std::vector<StarCamera> cameras;
  Table catalogue;
  std::vector<std::vector<double>> flux;  ///< the truth, at the grid's wavelengths
};

/// Stars of 17 mag behind a little dust; `snr` of each.
StarsOfKnownFlux stars_of_known_flux(const std::vector<double>& snr, double ebv) {
  StarsOfKnownFlux out;
  const std::size_t n = snr.size();
  std::vector<std::vector<double>> nanomaggies(3);
  std::vector<double> dust(n, ebv);
  for (std::size_t s = 0; s < n; ++s) {
    const double x = static_cast<double>(s);
    const test::StarPlace place{5700 + 110 * x, 3.7 + 0.1 * x, -1.9 + 0.2 * x, 1e-4 * (x - 2)};
    out.places.push_back(place);
    const test::ObservedStar star(place, snr[s], 10 + s);
    const std::vector<StarSpectrum> seen = star.cameras();
    for (std::size_t c = 0; c < seen.size(); ++c) {
      const std::size_t m = seen[c].wave.size();
      if (s == 0) {
        StarCamera camera;
        camera.band = "brz"[c];
        camera.stars.wave.assign(seen[c].wave.begin(), seen[c].wave.end());
        camera.stars.flux = camera.stars.ivar = Array2D<double>(n, m);
        camera.stars.resolution = Array3D<float>(n, 11, m);
        out.cameras.push_back(std::move(camera));
      }
      Spectra& stars = out.cameras[c].stars;
      std::copy(seen[c].flux.begin(), seen[c].flux.end(), stars.flux.row(s));
      std::copy(seen[c].ivar.begin(), seen[c].ivar.end(), stars.ivar.row(s));
      std::copy_n(seen[c].resolution.data, 11 * m, &stars.resolution(s, 0, 0));
    }
    std::vector<double> flux = dust_transmission(test::stellar_grid().wave, ebv);
    for (std::size_t i = 0; i < flux.size(); ++i) {
      flux[i] *= 40 * test::stellar_flux(test::stellar_grid().wave[i] / (1 + place.redshift),
                                         place.teff, place.logg, place.metal);
    }
    for (std::size_t b = 0; b < 3; ++b) {
      const Passband one = wide_band(bands_of(PhotometricSystem::kSouth)[b].file);
      const double mag = BandIntegral(test::stellar_grid().wave, one).magnitude(flux.data());
      nanomaggies[b].push_back(std::pow(10, 0.4 * (22.5 - mag)));
    }
    out.flux.push_back(std::move(flux));
  }
  out.catalogue.add("FLUX_G", std::span<const double>(nanomaggies[0]));
  out.catalogue.add("FLUX_R", std::span<const double>(nanomaggies[1]));
  out.catalogue.add("FLUX_Z", std::span<const double>(nanomaggies[2]));
  out.catalogue.add("EBV", std::span<const double>(dust));
  return out;
}

StandardStars found_among(const StarsOfKnownFlux& f, const StandardStarOptions& o = {}) {
  SerialExecutor serial;
  return find_standard_stars(f.cameras, star_catalogue(f.catalogue, StarColour::kAny),
                             test::stellar_grid(), wide_band, o, serial);
}

TEST(StandardStars, HaveTheirTrueFluxes) {
  const StarsOfKnownFlux f = stars_of_known_flux({200, 260, 160}, 0.05);
  const StandardStars stars = found_among(f);
  ASSERT_EQ(stars.stars.size(), 3U);
  EXPECT_EQ(stars.stars[0].row, 1U) << "the one of most light first";
  for (const StandardStar& star : stars.stars) {
    const test::StarPlace& truth = f.places[star.row];
    EXPECT_NEAR(star.teff, truth.teff, 80);
    EXPECT_NEAR(star.logg, truth.logg, 0.5);
    EXPECT_NEAR(star.metal, truth.metal, 0.15);
    EXPECT_NEAR(star.redshift, truth.redshift, 1e-4);
    EXPECT_NEAR(star.model_colour, star.seen_colour, 0.03);
    double worst = 0;
    for (std::size_t i = 1500; i < test::stellar_grid().wave.size(); i += 617) {
      worst = std::max(worst, std::abs(star.flux[i] / f.flux[star.row][i] - 1));
    }
    EXPECT_LT(worst, 0.04) << star.row;
    const Passband r = wide_band("decam2014-r");
    EXPECT_NEAR(BandIntegral(test::stellar_grid().wave, r).magnitude(star.flux.data()),
                BandIntegral(test::stellar_grid().wave, r).magnitude(f.flux[star.row].data()), 1e-9)
        << "their magnitude is the catalogue's";
  }
}

TEST(StandardStars, AreThoseOfLightPhotometryAndColour) {
  StarsOfKnownFlux f = stars_of_known_flux({60, 2, 50, 70}, 0);
  const auto set = [&](const char* name, std::size_t row, double value) {
    for (Column& c : f.catalogue.columns) {
      if (c.name == name) {
        std::memcpy(c.data.data() + row * sizeof(double), &value, sizeof(double));
      }
    }
  };
  set("FLUX_Z", 2, 0);                                       // no measurement
  set("FLUX_G", 3, 9 * (*f.catalogue.column("FLUX_G"))[3]);  // bluer than all models
  const StandardStars stars = found_among(f);
  ASSERT_EQ(stars.stars.size(), 1U);
  EXPECT_EQ(stars.stars[0].row, 0U);
  EXPECT_EQ(stars.too_faint, 1U);
  EXPECT_EQ(stars.without_photometry, 1U);
  EXPECT_EQ(stars.without_model, 1U);
  StandardStarOptions o;
  o.least_blue_snr = 1e4;
  EXPECT_EQ(loom::test::status_of([&] { (void)found_among(f, o); }), Status::kNumerical);
  EXPECT_EQ(loom::test::status_of([&] { (void)star_catalogue(f.catalogue, StarColour::kGaiaGRp); }),
            Status::kNumerical);
}

TEST(StarCatalogue, TakesGaiaWhereNoSurveyImaged) {
  Table table;
  const std::vector<double> g{16.2, 16.2}, bp{16.5, 16.5}, rp{15.7, 21}, ebv{0.08, 0.08};
  table.add("GAIA_PHOT_G_MEAN_MAG", std::span<const double>(g));
  table.add("GAIA_PHOT_BP_MEAN_MAG", std::span<const double>(bp));
  table.add("GAIA_PHOT_RP_MEAN_MAG", std::span<const double>(rp));
  table.add("EBV", std::span<const double>(ebv));
  const StarCatalogue stars = star_catalogue(table, StarColour::kAny);
  EXPECT_EQ(stars.colour, StarColour::kGaiaBpRp);
  EXPECT_TRUE(stars.known[0] && !stars.known[1]);
  EXPECT_NEAR(stars.seen[0], 0.8, 1e-12);
  EXPECT_NEAR(stars.free[0], 0.8 - 0.22957344145127223 + 0.1269297442426982, 1e-12);
  EXPECT_EQ(stars.reference[0], 16.2);
}

TEST(StarCatalogue, SaysWhatAStarLacks) {
  Table table;
  const std::vector<double> g{10, 10, 10, 0}, r{12, std::nan(""), 12, 12},
      ebv{0, 0, std::nan(""), 0};
  const std::vector<double> gaia{16.2, 16.2, 16.2, 16.2};
  for (const char* name :
       {"GAIA_PHOT_G_MEAN_MAG", "GAIA_PHOT_BP_MEAN_MAG", "GAIA_PHOT_RP_MEAN_MAG"}) {
    table.add(name, std::span<const double>(gaia));
  }
  table.add("FLUX_G", std::span<const double>(g));
  table.add("FLUX_R", std::span<const double>(r));
  table.add("EBV", std::span<const double>(ebv));
  const StarCatalogue by_gaia = star_catalogue(table, StarColour::kAny);
  EXPECT_EQ(by_gaia.colour, StarColour::kGaiaBpRp);
  EXPECT_EQ(by_gaia.not_imaged, "no FLUX_Z");
  EXPECT_EQ(by_gaia.lacks, (std::vector<std::string>{"", "", "EBV is nan", ""}));
  table.add("FLUX_Z", std::span<const double>(g));
  const StarCatalogue stars = star_catalogue(table, StarColour::kAny);
  EXPECT_EQ(stars.colour, StarColour::kGR);
  EXPECT_EQ(stars.not_imaged, "");
  EXPECT_EQ(stars.lacks,
            (std::vector<std::string>{"", "FLUX_R is nan", "EBV is nan", "FLUX_G is 0"}));
  EXPECT_EQ(stars.known, (std::vector<bool>{true, false, false, false}));
}

TEST(StarExposures, AreSummedByRows) {
  StarsOfKnownFlux f = stars_of_known_flux({60}, 0);
  Spectra one = f.cameras[0].stars, two = one;
  for (std::size_t k = 0; k < two.flux.size(); ++k) {
    two.flux.data()[k] *= 0.5, two.ivar.data()[k] *= 4;
  }
  const Spectra both = sum_star_exposures(std::vector<Spectra>{one, two});
  // weights ivar x light: 4/3 v and 2/3 4 v
  EXPECT_NEAR(both.flux(0, 700), one.flux(0, 700) * (4.0 / 3 + 4.0 / 3) / 4, 1e-9);
  EXPECT_NEAR(both.ivar(0, 700) / one.ivar(0, 700), 4, 1e-2);
  EXPECT_NEAR(both.resolution(0, 5, 700), one.resolution(0, 5, 700), 1e-7);
  const Spectra alone = sum_star_exposures(std::vector<Spectra>{one});
  EXPECT_EQ(alone.flux(0, 700), one.flux(0, 700));
}

}  // namespace
}  // namespace fiberloom::calibrate
