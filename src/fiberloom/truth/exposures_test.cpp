// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/truth/exposures.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "loom/base/error.hpp"
#include "loom/base/median.hpp"
#include "loom/runtime/executors.hpp"

namespace fiberloom::truth {
namespace {

ExposureOptions small() {
  ExposureOptions o;
  o.nspec = 30;
  return o;
}

TEST(Exposures, AreTheLightWithNoiseOfItsSize) {
  const Spectrograph spectrograph(900);
  SerialExecutor serial;
  ExposureOptions o = small();
  o.noise = KnownNoise::kLight;
  o.hot_pixels = 0;
  for (const bool lamp : {true, false}) {
    const Exposure e = lamp ? lamp_exposure(spectrograph, 1, o, 1, serial)
                            : field_exposure(spectrograph, 1, o, 1, serial);
    double sum = 0, squares = 0, count = 0, bad = 0;
    for (std::size_t k = 0; k < e.light.size(); ++k) {
      if (e.spectra.ivar.data()[k] == 0) {
        ++bad;
        continue;
      }
      const double pull =
          (e.spectra.flux.data()[k] - e.light.data()[k]) * std::sqrt(e.spectra.ivar.data()[k]);
      sum += pull, squares += pull * pull, ++count;
    }
    EXPECT_NEAR(sum / count, 0, 0.02);
    EXPECT_NEAR(squares / count, 1, 0.02);
    EXPECT_NEAR(bad / static_cast<double>(e.light.size()), o.bad_pixels, 5e-4);
  }
}

TEST(Exposures, HaveThroughputsAboutAMedianFiberOfOne) {
  const Spectrograph spectrograph(900);
  SerialExecutor serial;
  const Exposure lamp = lamp_exposure(spectrograph, 2, small(), 1, serial);
  const Exposure field = field_exposure(spectrograph, 2, small(), 2, serial);
  for (const std::size_t i : {0U, 1000U, 2880U}) {
    std::vector<double> column;
    double squares = 0;
    for (std::size_t f = 0; f < 30; ++f) {
      column.push_back(lamp.throughput(f, i));
      squares += std::pow(lamp.throughput(f, i) - 1, 2) / 30;
      EXPECT_EQ(lamp.throughput(f, i), field.throughput(f, i)) << "fibres stay for a night";
    }
    EXPECT_NEAR(median_of(column), 1, 1e-12);
    EXPECT_NEAR(std::sqrt(squares), 0.063, 0.025);
  }
}

TEST(Exposures, OfFieldsHaveSkyEverywhereAndStarsThatTheFibermapNames) {
  const Spectrograph spectrograph(900);
  SerialExecutor serial;
  const Exposure e = field_exposure(spectrograph, 0, small(), 1, serial);
  const auto kind = e.spectra.fibermap->text_column("OBJTYPE");
  const auto bits = e.spectra.fibermap->integers("DESI_TARGET", 0);
  ASSERT_TRUE(kind && bits);
  std::size_t sky = 0, stars = 0;
  for (std::size_t f = 0; f < 30; ++f) {
    const bool is_sky = (*kind)[f] == "SKY", is_star = (*bits)[f] != 0;
    sky += is_sky ? 1 : 0, stars += is_star ? 1 : 0;
    EXPECT_EQ(is_sky, e.flux(f, 1000) == 0);
    if (is_star) {
      EXPECT_GT(e.flux(f, 1000), 8) << f;
    }
    EXPECT_GT(e.sky(f, 1000), 0);
    EXPECT_NEAR(e.sky(f, 1000) + (is_sky ? 0 : e.light(f, 1000) - e.sky(f, 1000)), e.light(f, 1000),
                1e-9);
  }
  EXPECT_EQ(sky, 2U);
  EXPECT_EQ(stars, 2U);
}

TEST(Exposures, DoNotDependOnThreadsOrTheOtherFibersNoise) {
  const Spectrograph spectrograph(900);
  SerialExecutor serial;
  const auto threads = make_executor(3);
  const Exposure a = field_exposure(spectrograph, 1, small(), 1, serial);
  const Exposure b = field_exposure(spectrograph, 1, small(), 1, *threads);
  EXPECT_TRUE(std::equal(a.spectra.flux.data(), a.spectra.flux.data() + a.spectra.flux.size(),
                         b.spectra.flux.data()));
  const Exposure other = field_exposure(spectrograph, 1, small(), 2, serial);
  EXPECT_NE(a.spectra.flux(3, 100), other.spectra.flux(3, 100));
}

TEST(Exposures, RefuseMoreFibersThanThereAre) {
  const Spectrograph spectrograph(900);
  SerialExecutor serial;
  ExposureOptions o;
  o.nspec = 501;
  EXPECT_THROW((void)lamp_exposure(spectrograph, 0, o, 1, serial), Error);
}

}  // namespace
}  // namespace fiberloom::truth
