// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/filters/joint.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "loom/base/array.hpp"
#include "loom/base/error.hpp"
#include "loom/base/rng.hpp"
#include "loom/linalg/symmetric_eigen.hpp"
#include "skyloom/filters/legendre.hpp"
#include "skyloom/pointing/angle.hpp"

namespace skyloom {
namespace {

constexpr std::size_t kSpan = 3000;
const std::vector<Stretch> kSweeps{{0, 700}, {700, 1400}, {1500, 2200}, {2200, 3000}};

double zigzag(std::size_t i) {
  const double t = std::fmod(static_cast<double>(i), 1400.0) / 700;
  return 1 + 0.5 * (t < 1 ? t : 2 - t) + 0.02 * std::sin(0.01 * static_cast<double>(i));
}

struct JointScan {
  std::vector<double> azimuth = std::vector<double>(kSpan), angles = azimuth, values = azimuth;
  std::vector<std::uint8_t> flags = std::vector<std::uint8_t>(kSpan, 0);
  JointScan() {
    const CounterRng random(7, 0);
    for (std::size_t i = 0; i < kSpan; ++i) {
      azimuth[i] = zigzag(i);
      angles[i] = 0.31 * static_cast<double>(i);
      values[i] = random.normal(i);
      if (i % 13 == 0 || (i >= 300 && i < 420)) flags[i] = 1;
      if (i >= 1400 && i < 1500) flags[i] = 1;
    }
    values[17] = NAN;
  }
};

using Columns = std::vector<std::vector<double>>;

/// The bin of azimuth that most samples of stretches are in.
std::size_t fullest_bin(const GroundPlaces& places, std::span<const Stretch> stretches) {
  std::vector<std::size_t> counts(places.azimuth_bins);
  for (const Stretch& of : stretches) {
    for (std::size_t i = of.first; i < of.end; ++i) ++counts[places.place[i] % counts.size()];
  }
  return static_cast<std::size_t>(std::max_element(counts.begin(), counts.end()) - counts.begin());
}

/// All templates, as they are written down. Beside polynomials the fullest bin has none, which
/// these make up for where bins do not change in time.
Columns columns_of(const JointWishes& wishes, const JointScan& scan,
                   std::span<const Stretch> stretches) {
  Columns out;
  const auto add = [&](const std::function<double(std::size_t)>& value) {
    out.emplace_back(kSpan, 0.0);
    for (const Stretch& of : stretches) {
      for (std::size_t i = of.first; i < of.end; ++i) out.back()[i] = value(i);
    }
  };
  std::vector<double> at(40);
  const auto polynomial = [&](std::size_t order, double x) {
    legendre(x, order + 1, at.data());
    return at[order];
  };
  if (wishes.polynomial) {
    for (const Stretch& of : stretches) {
      for (std::size_t k = 0; k <= *wishes.polynomial; ++k) {
        const auto n = static_cast<double>(of.end - of.first);
        add([&](std::size_t i) {
          if (i < of.first || i >= of.end) return 0.0;
          return polynomial(k, (2 * static_cast<double>(i - of.first) + 1) / n - 1);
        });
      }
    }
  }
  for (std::size_t m = 1; m <= wishes.plate.harmonics; ++m) {
    const auto order = static_cast<double>(m);
    for (const bool drifts : {false, true}) {
      if (drifts && !wishes.plate.drift) continue;
      const auto time = [=](std::size_t i) { return drifts ? static_cast<double>(i) : 1.0; };
      add([&](std::size_t i) { return time(i) * std::cos(order * scan.angles[i]); });
      add([&](std::size_t i) { return time(i) * std::sin(order * scan.angles[i]); });
    }
  }
  if (!wishes.ground.any()) return out;
  const GroundPlaces places = ground_places(wishes.ground, scan.azimuth);
  const bool changes = wishes.ground.step > 0 || wishes.ground.drift > 0;
  const std::size_t fullest = fullest_bin(places, stretches);
  for (std::uint32_t bin = 0; bin < places.bins; ++bin) {
    if (places.phase.empty() && wishes.polynomial && changes &&
        bin % places.azimuth_bins == fullest) {
      continue;
    }
    const auto here = [&](std::size_t i) { return places.place[i] == bin ? 1.0 : 0.0; };
    for (std::size_t k = 0; places.phase.empty() && k <= wishes.ground.drift; ++k) {
      add([&](std::size_t i) {
        return here(i) * std::pow(2 * static_cast<double>(i) / (kSpan - 1) - 1, k);
      });
    }
    for (std::size_t k = lowest_ground_order(wishes);
         !places.phase.empty() && k <= *wishes.ground.order; ++k) {
      add([&](std::size_t i) { return here(i) * polynomial(k, places.phase[i]); });
    }
  }
  return out;
}

/// A template's part of the values, over good samples, of its length: 0 behind a least-squares fit.
double largest_product(const Columns& columns, const std::vector<double>& values,
                       const std::vector<std::uint8_t>& good) {
  double most = 0;
  for (const std::vector<double>& column : columns) {
    double product = 0, length = 0;
    for (std::size_t i = 0; i < kSpan; ++i) {
      if (good[i] == 0) continue;
      product += column[i] * values[i];
      length += column[i] * column[i];
    }
    if (length > 0) most = std::max(most, std::fabs(product) / std::sqrt(length));
  }
  return most;
}

struct JointCase {
  JointWishes wishes;
  bool apart = true;  ///< sweeps are stretches
};

std::vector<JointCase> joint_cases() {
  return {{{.polynomial = 3}},
          {{.plate = {.harmonics = 3}}},
          {{.polynomial = 2, .plate = {.harmonics = 2, .drift = true}}},
          {{.polynomial = 1, .ground = {.order = 4}}},
          {{.polynomial = 1, .ground = {.bin_deg = 2}, .plate = {.harmonics = 2}}},
          {{.polynomial = 1, .ground = {.order = 5, .split = true}, .plate = {.harmonics = 1}}},
          {{.ground = {.bin_deg = 3, .split = true}}},
          {{.polynomial = 4, .ground = {.bin_deg = 1.5}}, false},
          {{.polynomial = 1, .ground = {.bin_deg = 3, .split = true, .step = 1000}}},
          {{.polynomial = 1, .ground = {.bin_deg = 3, .drift = 2}, .plate = {.harmonics = 1}}},
          {{.polynomial = 1, .ground = {.bin_deg = 4, .step = 1700, .drift = 1}}},
          {{.polynomial = 1, .ground = {.order = 3, .split = true, .step = 800.5}}}};
}

std::vector<Stretch> stretches_of(const JointCase& each) {
  return each.apart ? kSweeps : std::vector<Stretch>{{0, kSpan}};
}

TEST(JointFilter, LeavesNothingOfAnyOfItsTemplates) {
  for (const JointCase& each : joint_cases()) {
    const JointScan scan;
    const auto stretches = stretches_of(each);
    const JointFilter filter({.on = true}, each.wishes, scan.azimuth, scan.angles, stretches);
    Columns columns = columns_of(each.wishes, scan, stretches);
    std::vector<double> values = scan.values;
    std::vector<std::uint8_t> flags = scan.flags;
    for (std::size_t i = 0; i < kSpan; ++i) values[i] += 1e3 * columns.front()[i];
    const auto good = good_samples(scan.values, scan.flags);

    EXPECT_EQ(filter.subtract(values, flags), 0U);

    EXPECT_LT(largest_product(columns, values, good), 1e-10);
    EXPECT_TRUE(std::isnan(values[17]));
    double changed = 0;
    for (std::size_t i = 0; i < kSpan; ++i) changed += good[i] != 0 ? std::fabs(values[i]) : 0;
    EXPECT_GT(changed, 0.5 * kSpan);  // the noise is there
  }
}

TEST(JointFilter, DoesNotSeeWhatItsTemplatesMake) {
  for (const JointCase& each : joint_cases()) {
    const JointScan scan;
    const auto stretches = stretches_of(each);
    const JointFilter filter({.on = true}, each.wishes, scan.azimuth, scan.angles, stretches);
    const JointTemplates& templates = filter.templates();
    std::vector<double> clean = scan.values, seen = clean;
    std::vector<std::uint8_t> flags = scan.flags, again = flags;
    JointBlock block(templates);
    for (std::size_t s = 0; s < stretches.size(); ++s) {
      block.over(s, [&](std::size_t first, std::size_t n) {
        for (std::size_t k = 0; k < block.count(); ++k) {
          const std::size_t own = templates.own(), number = block.number(k);
          const double height = number < own ? 3.0 + static_cast<double>(s + number)
                                             : 2.0 - 0.1 * templates.shared_in(s)[number - own];
          for (std::size_t i = 0; i < n; ++i) seen[first + i] += height * block.row(k)[i];
        }
      });
    }
    (void)filter.subtract(clean, flags);
    (void)filter.subtract(seen, again);
    EXPECT_EQ(flags, again);
    for (std::size_t i = 0; i < kSpan; ++i) {
      if (flags[i] == 0 && i != 17) {
        ASSERT_NEAR(clean[i], seen[i], 1e-10) << i;
      }
    }
  }
}

/// Of F^T F, its templates brought to length 1: by all of its eigenvalues.
double reciprocal_of(const JointTemplates& templates, const std::vector<std::uint8_t>& good) {
  const std::size_t own = templates.own(), stretches = templates.stretches().size();
  const std::size_t n = own * stretches + templates.shared();
  Array2D<double> matrix(n, n, 0.0);
  JointBlock block(templates);
  for (std::size_t s = 0; s < stretches; ++s) {
    const auto place = [&](std::size_t k) {
      const std::size_t number = block.number(k);
      return number < own ? s * own + number
                          : stretches * own + templates.shared_in(s)[number - own];
    };
    block.over(s, [&](std::size_t first, std::size_t count) {
      for (std::size_t r = 0; r < block.count(); ++r) {
        for (std::size_t c = 0; c < block.count(); ++c) {
          for (std::size_t i = 0; i < count; ++i) {
            matrix(place(r), place(c)) += good[first + i] * block.row(r)[i] * block.row(c)[i];
          }
        }
      }
    });
  }
  std::vector<double> length(n);
  for (std::size_t k = 0; k < n; ++k) length[k] = std::sqrt(matrix(k, k));
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t c = 0; c < n; ++c) matrix(r, c) /= length[r] * length[c];
  }
  const auto values = symmetric_eigen(std::move(matrix)).values;
  return values.back() / values.front();
}

TEST(JointFit, KnowsItsConditionWithoutEigenvalues) {
  for (const JointCase& each : joint_cases()) {
    const JointScan scan;
    const JointTemplates templates(each.wishes, scan.azimuth, scan.angles, stretches_of(each));
    const auto good = good_samples(scan.values, scan.flags);
    const JointFit fit(templates, good, 1e-6);
    const double wanted = reciprocal_of(templates, good);
    EXPECT_NEAR(fit.reciprocal() / wanted, 1, 0.1);
    EXPECT_GT(fit.reciprocal(), 1e-6);
  }
}

/// A plate that stands: cosine and sine are constant, and so is a polynomial.
TEST(JointFilter, OfTemplatesThatFollowFromEachOtherTakesOutWhatTheyHave) {
  JointScan scan;
  std::fill(scan.angles.begin(), scan.angles.end(), 0.7);
  const JointCase cases[] = {
      {{.polynomial = 1, .plate = {.harmonics = 2}}},
      {{.plate = {.harmonics = 2}}},
      // more templates than eigenvalues are taken of
      {{.polynomial = 1, .ground = {.bin_deg = 0.055}, .plate = {.harmonics = 1}}}};
  for (const JointCase& each : cases) {
    const JointFilter filter({.on = true}, each.wishes, scan.azimuth, scan.angles, kSweeps);
    const JointFilter strict({.on = true, .least_reciprocal = -1e-6}, each.wishes, scan.azimuth,
                             scan.angles, kSweeps);
    std::vector<double> values = scan.values, others = values;
    std::vector<std::uint8_t> flags = scan.flags, all = flags;
    const auto good = good_samples(scan.values, scan.flags);
    const auto fit = filter.fit(good).fit;
    EXPECT_LT(fit->rank(), filter.templates().shared());
    EXPECT_LT(fit->reciprocal(), 1e-6);
    if (each.wishes.ground.any()) {
      EXPECT_GT(filter.templates().shared(), kMostEigen);
    }

    EXPECT_EQ(filter.subtract(values, flags), 0U);
    EXPECT_LT(largest_product(columns_of(each.wishes, scan, kSweeps), values, good), 1e-9);

    EXPECT_EQ(strict.subtract(others, all), kSweeps.size());
    for (const Stretch& of : kSweeps) {
      for (std::size_t i = of.first; i < of.end; ++i) ASSERT_NE(all[i], 0);
    }
    EXPECT_EQ(others[0], scan.values[0]);
  }
}

/// What a detector has for itself, such as what it sees of a map.
TEST(JointFilter, FitsTemplatesThatAreGivenBesideItsOwn) {
  const JointScan scan;
  const JointWishes wishes{.polynomial = 1, .ground = {.bin_deg = 3}};
  const JointFilter filter({.on = true}, wishes, scan.azimuth, {}, kSweeps);
  const JointFilter nothing_else({.on = true}, {}, {}, {}, kSweeps);
  Columns given(2, std::vector<double>(kSpan));
  for (std::size_t i = 0; i < kSpan; ++i) {
    given[0][i] = 1e-4 * std::sin(0.02 * static_cast<double>(i * i % 997));
    given[1][i] = 30 * std::cos(0.3 * static_cast<double>(i % 211));
  }
  Columns columns = columns_of(wishes, scan, kSweeps);
  const auto good = good_samples(scan.values, scan.flags);
  std::vector<double> values = scan.values, without = values, alone = values;
  auto flags = scan.flags, others = flags, third = flags;
  for (std::size_t i = 0; i < kSpan; ++i) values[i] += 1e6 * given[0][i] - 4 * given[1][i];

  (void)filter.subtract(without, others);
  EXPECT_EQ(filter.subtract(values, flags, given), 0U);
  EXPECT_EQ(nothing_else.subtract(alone, third, given), 0U);

  EXPECT_GT(largest_product(given, without, good), 0.01);
  EXPECT_LT(largest_product(given, values, good), 1e-10);
  EXPECT_LT(largest_product(columns, values, good), 1e-10);
  EXPECT_LT(largest_product(given, alone, good), 1e-10);
  std::vector<double> again = scan.values;
  auto same = scan.flags;
  (void)filter.subtract(again, same);  // nothing stays of what another detector had
  again[17] = without[17] = 0;
  EXPECT_EQ(again, without);
}

/// Three whole steps and what is left: a last step is up to 1.75 times as long.
TEST(GroundPlaces, HaveStepsOfTimeAsThePeers) {
  EXPECT_EQ(steps_of(1, 10), 1U);
  EXPECT_EQ(steps_of(101, 0), 1U);
  EXPECT_EQ(steps_of(101, 1e9), 1U);
  EXPECT_EQ(steps_of(176, 100), 1U);
  EXPECT_EQ(steps_of(177, 100), 2U);
  EXPECT_EQ(steps_of(376, 100), 3U);
  std::vector<double> azimuth(376, 0.0);
  for (std::size_t i = 0; i < azimuth.size(); ++i) azimuth[i] = 1e-3 * static_cast<double>(i % 40);
  const GroundPlaces whole = ground_places({.bin_deg = 1, .split = true}, azimuth);
  const GroundPlaces steps = ground_places({.bin_deg = 1, .split = true, .step = 100}, azimuth);
  EXPECT_EQ(steps.azimuth_bins, whole.azimuth_bins);
  EXPECT_EQ(steps.bins, 3 * whole.bins);
  for (std::size_t i = 0; i < azimuth.size(); ++i) {
    EXPECT_EQ(steps.place[i], whole.place[i] + std::min<std::size_t>(i / 100, 2) * whole.bins) << i;
  }
  EXPECT_THROW((void)ground_places({.bin_deg = 1e-3, .step = 0.01}, azimuth), Error);
  EXPECT_THROW((void)ground_places({.bin_deg = 1, .step = 1e-300}, azimuth), Error);
}

TEST(JointFilter, FlagsWhatNoGoodSampleTellsOf) {
  JointScan scan;
  const JointWishes wishes{.polynomial = 2, .ground = {.bin_deg = 4}};
  for (std::size_t i = 700; i < 1400; ++i) scan.flags[i] = i == 800 || i == 900 ? 0 : 1;
  const GroundPlaces places = ground_places(wishes.ground, scan.azimuth);
  std::size_t lost = 0;
  for (std::size_t i = 0; i < kSpan; ++i) {
    if (places.place[i] == 3) scan.flags[i] = 1;
    lost += places.place[i] == 3 ? 1 : 0;
  }
  ASSERT_GT(lost, 100U);
  std::vector<double> values = scan.values;
  std::vector<std::uint8_t> flags = scan.flags;
  const JointFilter filter({.on = true}, wishes, scan.azimuth, {}, kSweeps);

  EXPECT_EQ(filter.subtract(values, flags), 1U);  // two samples for three coefficients

  for (std::size_t i = 700; i < 1400; ++i) EXPECT_EQ(flags[i], 1);
  for (std::size_t i = 0; i < kSpan; ++i) EXPECT_TRUE(flags[i] != 0 || places.place[i] != 3);
  EXPECT_EQ(values[800], scan.values[800]);
  std::fill(flags.begin(), flags.end(), std::uint8_t{1});
  EXPECT_EQ(filter.subtract(values, flags), 0U);  // nothing was good
}

TEST(JointFilter, IsOfTheSamplesAloneWhateverWasFittedBefore) {
  const JointScan scan;
  const JointWishes wishes{.polynomial = 1, .ground = {.bin_deg = 2}};
  const JointFilter one({.on = true}, wishes, scan.azimuth, {}, kSweeps);
  const JointFilter other({.on = true}, wishes, scan.azimuth, {}, kSweeps);
  auto a = scan.values, b = a, c = a;
  auto flags = scan.flags, more = flags, third = flags;
  for (std::size_t i = 0; i < 50; ++i) more[i] = 1;
  (void)one.subtract(c, more);
  (void)one.subtract(a, flags);
  (void)other.subtract(b, third);
  a[17] = b[17] = 0;
  EXPECT_EQ(a, b);
}

TEST(JointTemplates, LeaveOutTheBinThatIsNamed) {
  const JointScan scan;
  JointWishes wishes{.polynomial = 1, .ground = {.bin_deg = 3}};
  const JointTemplates usual(wishes, scan.azimuth, {}, kSweeps);
  wishes.ground.left_out = 0;
  const JointTemplates named(wishes, scan.azimuth, {}, kSweeps);
  EXPECT_EQ(named.shared(), usual.shared());
  EXPECT_TRUE(usual.bin_template(0));
  EXPECT_FALSE(named.bin_template(0));
}

TEST(JointTemplates, AreNotWithoutBound) {
  const JointScan scan;
  try {
    const JointTemplates many({.ground = {.bin_deg = 0.005}}, scan.azimuth, {}, kSweeps);
    FAIL() << many.shared();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kUsage);
    EXPECT_NE(std::string(error.what()).find("--joint"), std::string::npos);
  }
}

}  // namespace
}  // namespace skyloom
