// SPDX-License-Identifier: BSD-3-Clause
// Flats of a focal plane whose fibres and lamps are known.
#include "fiberloom/calibrate/flat_average.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fiberloom/calibrate/usable.hpp"
#include "loom/base/rng.hpp"
#include "loom/base/test_status.hpp"

namespace fiberloom::calibrate {
namespace {

constexpr std::size_t kLitFibers = 40, kLitBins = 30;

/// Throughput of a fibre of a spectrograph.
double true_flat(int spectrograph, std::size_t fiber, std::size_t bin) {
  const CounterRng rng(5, static_cast<std::uint64_t>(spectrograph));
  return 1 + 0.05 * rng.normal(fiber) + 0.02 * std::sin(0.3 * static_cast<double>(bin));
}

/// What one spectrograph's flat of a lamp is: against its own median spectrum. Its fibres lie in a
/// sector; the lamp is brighter towards x by `slope` at the edge.
LampFlat lamp_flat(std::int64_t lamp, int spectrograph, double slope) {
  LampFlat out{lamp, spectrograph, {}};
  FiberFlat& f = out.flat;
  f.flat = Array2D<double>(kLitFibers, kLitBins);
  f.ivar = Array2D<double>(kLitFibers, kLitBins, 1e6);
  f.mask = Array2D<std::uint32_t>(kLitFibers, kLitBins, 0U);
  std::vector<double> x, y;
  for (std::size_t s = 0; s < kLitFibers; ++s) {
    const double angle = 2.1 * spectrograph + 2.0 * static_cast<double>(s % 7) / 7;
    const double r = 407.5 * std::sqrt((static_cast<double>(s) + 0.5) / kLitFibers);
    x.push_back(r * std::cos(angle)), y.push_back(r * std::sin(angle));
  }
  for (std::size_t i = 0; i < kLitBins; ++i) {
    f.wave.push_back(6000 + static_cast<double>(i));
    f.mean.push_back(1000.0 * (1 + 0.1 * spectrograph));  // what the flats are not
    for (std::size_t s = 0; s < kLitFibers; ++s) {
      const double light = 1 + slope * x[s] / 407.5;
      f.flat(s, i) = true_flat(spectrograph, s, i) * light / (1 + 0.1 * spectrograph);
    }
  }
  const std::vector<std::int32_t> status(kLitFibers, 0);
  f.fibermap.emplace().add("FIBERASSIGN_X", std::span<const double>(x));
  f.fibermap->add("FIBERASSIGN_Y", std::span<const double>(y));
  f.fibermap->add("FIBERSTATUS", std::span<const std::int32_t>(status));
  return out;
}

std::vector<LampFlat> two_lamps() {
  std::vector<LampFlat> out;
  for (const int spectrograph : {0, 1, 2}) {
    out.push_back(lamp_flat(7, spectrograph, 0.08));
    out.push_back(lamp_flat(8, spectrograph, -0.08));
  }
  return out;
}

TEST(CombineLamps, GivesFibersOfAllSpectrographsAsTheyAre) {
  const std::vector<LampFlat> night = combine_lamps(two_lamps());
  ASSERT_EQ(night.size(), 3U);
  for (std::size_t i = 0; i < kLitBins; ++i) {
    const double scale = night[0].flat.flat(0, i) / true_flat(0, 0, i);
    for (const LampFlat& f : night) {
      for (std::size_t s = 0; s < kLitFibers; ++s) {
        EXPECT_NEAR(f.flat.flat(s, i) / true_flat(f.spectrograph, s, i) / scale, 1, 3e-3);
      }
    }
    EXPECT_NEAR(scale, 1, 0.05) << "the median fibre is 1";
  }
  EXPECT_NEAR(night[1].flat.ivar(3, 3) / 1e6, 2 / (1.1 * 1.1), 0.1) << "two lamps";
}

TEST(CombineLamps, ScalesErrorsAsFlatsUnlessTheyAreToStayAsDesispecs) {
  const std::vector<LampFlat> ours = combine_lamps(two_lamps());
  const std::vector<LampFlat> theirs = combine_lamps(two_lamps(), ScaledErrors::kStay);
  const auto ratio = [](const std::vector<LampFlat>& f) {
    return f[0].flat.ivar(3, 3) / f[2].flat.ivar(3, 3);
  };
  EXPECT_NEAR(ratio(ours), 1.2 * 1.2, 1e-9) << "of 1 and 1.2 of the light";
  EXPECT_NEAR(ratio(theirs), 1, 1e-9);
  EXPECT_NEAR(ours[2].flat.flat(3, 3), theirs[2].flat.flat(3, 3), 1e-12);
}

TEST(CombineLamps, TakesTheMeanWhereFibersDoNotTellTheCentre) {
  std::vector<LampFlat> far = two_lamps();
  for (LampFlat& f : far) {
    std::vector<double> x, y;
    for (std::size_t s = 0; s < kLitFibers; ++s) {
      x.push_back(400 + 0.1 * static_cast<double>(s % 5)),
          y.push_back(0.1 * static_cast<double>(s));
    }
    std::erase_if(f.flat.fibermap->columns,
                  [](const Column& c) { return c.name != "FIBERSTATUS"; });
    f.flat.fibermap->add("FIBERASSIGN_X", std::span<const double>(x));
    f.flat.fibermap->add("FIBERASSIGN_Y", std::span<const double>(y));
  }
  for (const LampFlat& f : combine_lamps(far)) {
    for (std::size_t s = 0; s < kLitFibers; ++s) {
      EXPECT_NEAR(f.flat.flat(s, 3), true_flat(f.spectrograph, s, 3), 0.1);
      EXPECT_GT(f.flat.ivar(s, 3), 1e6) << "lamps count alike";
    }
  }
}

TEST(CombineLamps, BridgesSpikesAndMarksFibersThatAreMostlyMasked) {
  std::vector<LampFlat> all = two_lamps();
  all[0].flat.flat(4, 12) += 1.5;
  for (std::size_t i = 0; i < 10; ++i) all[0].flat.ivar(5, i) = 0;
  const std::vector<LampFlat> night = combine_lamps(all);
  EXPECT_NEAR(night[0].flat.flat(4, 12), night[0].flat.flat(4, 11), 0.05);
  EXPECT_EQ(night[0].flat.mask(5, 3), static_cast<std::uint32_t>(kBadFiberFlat));
  EXPECT_EQ(night[0].flat.ivar(5, 3), 0);
  EXPECT_EQ((*night[0].flat.fibermap->integers("FIBERSTATUS", 0))[5],
            static_cast<std::int64_t>(kBadFlat));
  EXPECT_EQ((*night[0].flat.fibermap->integers("FIBERSTATUS", 0))[4], 0);
}

TEST(CombineLamps, WantsEachLampOfEachSpectrographAndPlaces) {
  std::vector<LampFlat> few = two_lamps(), nowhere = two_lamps(), other = two_lamps();
  few.pop_back();
  nowhere[2].flat.fibermap.reset();
  other[3].flat.wave.back() += 1;
  const auto status = [](const std::vector<LampFlat>& flats) {
    return loom::test::status_of([&] { (void)combine_lamps(flats); });
  };
  EXPECT_EQ(status(few), Status::kWrongShape);
  EXPECT_EQ(status(nowhere), Status::kMissingKeyword);
  EXPECT_EQ(status(other), Status::kWrongShape);
}

TEST(AverageFlats, TakesTheMedianOfManyAndTheMeanOfTwo) {
  const FiberFlat one = lamp_flat(7, 0, 0).flat;
  FiberFlat two = one, three = one;
  for (std::size_t k = 0; k < two.flat.size(); ++k) two.flat.data()[k] *= 1.02;
  two.flat(3, 3) = 9;
  three.mask(4, 4) = kBadFiberFlat;
  const FiberFlat median = average_flats(std::vector<FiberFlat>{one, two, three});
  EXPECT_EQ(median.flat(3, 3), one.flat(3, 3)) << "a spike in one of three";
  EXPECT_EQ(median.mask(4, 4), 0U) << "two are good";
  EXPECT_NEAR(median.flat(4, 4), 1.01 * one.flat(4, 4), 1e-12);
  EXPECT_NEAR(median.ivar(0, 0), 3e6 * 2 / 3.14159265358979, 1);
  two.ivar(5, 5) = 0;
  const FiberFlat mean = average_flats(std::vector<FiberFlat>{one, two});
  EXPECT_NEAR(mean.flat(0, 0), 1.01 * one.flat(0, 0), 1e-12);
  EXPECT_EQ(mean.flat(5, 5), one.flat(5, 5));
  EXPECT_EQ(mean.ivar(0, 0), 2e6);
  EXPECT_EQ(average_flats(std::vector<FiberFlat>{two}).flat(3, 3), 9);
  EXPECT_EQ(loom::test::status_of([] { (void)average_flats({}); }), Status::kWrongShape);
}

}  // namespace
}  // namespace fiberloom::calibrate
