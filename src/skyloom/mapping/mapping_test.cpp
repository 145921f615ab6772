// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "loom/testing/test_executor.hpp"
#include "loom/testing/test_files.hpp"
#include "skyloom/mapping/destripe.hpp"
#include "skyloom/mapping/plain_system.hpp"
#include "skyloom/mapping/test_scan.hpp"
#include "skyloom/status.hpp"

namespace skyloom {
namespace {

using loom::test::thrown_by;
using test::compressed;
using test::scan;
using test::ScanShape;

/// Streams, sums and system of one case.
struct Case {
  Case(const Healpix& sky, const std::vector<PlainStream>& plain, Executor& executor,
       const SolveOptions& options = {})
      : sums(sky), system(test::system_of(sums, sky, plain, executor, options)) {}
  [[nodiscard]] std::vector<Stokes> map(std::span<const double> a) const {
    std::vector<Stokes> out(sums.tiles().tiles() * sums.tiles().pixels());
    SerialExecutor one;
    const std::vector<double> offsets(a.begin(), a.end());
    const TileMaps tiles = system.maps(a.empty() ? nullptr : &offsets, one);
    for (std::size_t h = 0; h < system.hit_tiles().size(); ++h) {
      const std::vector<Stokes>& tile = tiles[h];
      const auto number = static_cast<std::size_t>(system.hit_tiles()[h]);
      for (std::size_t p = 0; p < tile.size(); ++p) {
        const Pixel pixel = sums.tiles().pixel(number, sums.tile(number)[p].place);
        if (std::isnan(tile[p].i)) continue;  // cut
        out[static_cast<std::size_t>(pixel)] = tile[p];
      }
    }
    return out;
  }
  SkySums sums;
  OffsetSystem system;
};

double worst(const std::vector<double>& a, std::span<const double> b) {
  double out = 0;
  for (std::size_t i = 0; i < a.size(); ++i) out = std::max(out, std::fabs(a[i] - b[i]));
  return out;
}

double worst(const std::vector<Stokes>& a, const std::vector<Stokes>& b) {
  double out = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    out = std::max(
        {out, std::fabs(a[i].i - b[i].i), std::fabs(a[i].q - b[i].q), std::fabs(a[i].u - b[i].u)});
  }
  return out;
}

std::vector<double> random_offsets(std::size_t n) {
  std::vector<double> out(n);
  const CounterRng random(9, n);
  for (std::size_t i = 0; i < n; ++i) out[i] = random.normal(i);
  return out;
}

TEST(OffsetSystem, IsThePlainOperatorSampleBySample) {
  SerialExecutor one;
  const SolveOptions options{.least_reciprocal = 1e-3};  // what a pixel's rounding grows by
  for (const std::size_t step : {0U, 1U, 7U, 50U, 100000U}) {
    for (const std::int64_t nside : {1, 8, 64}) {
      std::vector<PlainStream> plain = scan({.nside = nside, .step = step, .noise = 1});
      plain[3].flags.assign(plain[3].pixels.size(), 0);
      for (std::size_t i = 0; i < 2000; ++i) plain[3].flags[i * 3] = 1;
      const Healpix sky(nside);
      const PlainSystem oracle(sky, plain, options);
      const Case found(sky, plain, one, options);
      ASSERT_EQ(found.system.size(), oracle.size());
      const std::vector<double> b = oracle.projected({});
      double size = 0;
      for (const double x : b) size = std::max(size, std::fabs(x));
      EXPECT_LT(worst(b, found.system.right_side()), 1e-11 * size) << step << " " << nside;
      const std::vector<double> a = random_offsets(oracle.size());
      std::vector<double> out(a.size());
      found.system.apply(a, out, one);
      double largest = 0;
      for (const double x : found.system.diagonal()) largest = std::max(largest, x);
      EXPECT_LT(worst(oracle.projected(a), out), 1e-12 * largest) << step << " " << nside;
      EXPECT_LT(worst(oracle.map(a), found.map(a)), 1e-9) << step << " " << nside;
      EXPECT_LT(worst(oracle.map({}), found.map({})), 1e-9) << step << " " << nside;
    }
  }
}

TEST(OffsetSystem, IsSymmetricAndHasNoOpinionOnAConstant) {
  SerialExecutor one;
  const Case found(Healpix(16), scan({.noise = 1}), one);
  const std::size_t n = found.system.size();
  const std::vector<double> a = random_offsets(n), b = random_offsets(n + 1), ones(n, 1.0);
  std::vector<double> ta(n), tb(n), tones(n);
  found.system.apply(a, ta, one);
  found.system.apply({b.data(), n}, tb, one);
  found.system.apply(ones, tones, one);
  double ab = 0, ba = 0;
  for (std::size_t i = 0; i < n; ++i) {
    ab += b[i] * ta[i];
    ba += a[i] * tb[i];
    EXPECT_NEAR(tones[i], 0, 1e-10);
  }
  EXPECT_NEAR(ab, ba, 1e-10 * std::fabs(ab) + 1e-8);
}

TEST(Destriping, RecoversASkyWithoutNoise) {
  SerialExecutor one;
  const Healpix sky(16);
  const Case found(sky, scan({}), one);
  const std::vector<Stokes> map = found.map({});
  std::size_t good = 0;
  for (std::size_t h = 0; h < found.system.hit_tiles().size(); ++h) {
    const auto inverse = found.system.inverses()[h];
    const auto number = static_cast<std::size_t>(found.system.hit_tiles()[h]);
    for (std::size_t p = 0; p < inverse.size(); ++p) {
      const Pixel pixel = found.sums.tiles().pixel(number, found.sums.tile(number)[p].place);
      const Stokes truth = test::smooth_sky(sky, pixel), at = map[static_cast<std::size_t>(pixel)];
      if (!(inverse[p].ii > 0)) {
        EXPECT_EQ(at.i, 0);
        continue;
      }
      ++good;
      EXPECT_NEAR(at.i, truth.i, 1e-10);
      EXPECT_NEAR(at.q, truth.q, 1e-10);
      EXPECT_NEAR(at.u, truth.u, 1e-10);
    }
  }
  EXPECT_GT(good, 1000U);
}

TEST(Destriping, TakesAwayWhatIsConstantInABaseline) {
  SerialExecutor one;
  const Healpix sky(16);
  const SolveOptions options{.least_reciprocal = 1e-3};
  const Case clean(sky, scan({.noise = 0.1}), one, options);
  const Case striped(sky, scan({.offsets = 30, .noise = 0.1}), one, options);
  const SolveLimits limits{.tolerance = 1e-13, .iterations = 500};
  const Solution a = destripe(clean.system, {}, limits, one);
  const Solution b = destripe(striped.system, {}, limits, one);
  EXPECT_TRUE(a.converged);
  EXPECT_TRUE(b.converged);
  const auto without = clean.map(a.x), with = striped.map(b.x);
  // a constant of the whole sky is nobody's: taken off
  double shift = 0, count = 0;
  for (std::size_t p = 0; p < without.size(); ++p) {
    if (without[p].i == 0) continue;
    shift += with[p].i - without[p].i;
    count += 1;
  }
  for (std::size_t p = 0; p < without.size(); ++p) {
    if (without[p].i == 0) continue;
    EXPECT_NEAR(with[p].i - shift / count, without[p].i, 1e-9);
    EXPECT_NEAR(with[p].q, without[p].q, 1e-9);
    EXPECT_NEAR(with[p].u, without[p].u, 1e-9);
  }
}

/// x of a x = b by Cholesky's factor, in place.
std::vector<double> dense_solution(std::vector<std::vector<double>> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t c = 0; c < n; ++c) {
    for (std::size_t k = 0; k < c; ++k) a[c][c] -= a[c][k] * a[c][k];
    a[c][c] = std::sqrt(a[c][c]);
    for (std::size_t r = c + 1; r < n; ++r) {
      for (std::size_t k = 0; k < c; ++k) a[r][c] -= a[r][k] * a[c][k];
      a[r][c] /= a[c][c];
    }
  }
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t k = 0; k < r; ++k) b[r] -= a[r][k] * b[k];
    b[r] /= a[r][r];
  }
  for (std::size_t r = n; r-- > 0;) {
    for (std::size_t k = r + 1; k < n; ++k) b[r] -= a[k][r] * b[k];
    b[r] /= a[r][r];
  }
  return b;
}

TEST(Destriping, IsTheDenseSolution) {
  SerialExecutor one;
  const Healpix sky(16);
  const std::vector<PlainStream> plain =
      scan({.samples = 6000, .step = 170, .offsets = 5, .noise = 1});
  const PlainSystem oracle(sky, plain, {});
  const std::size_t n = oracle.size();
  ASSERT_EQ(n, 504U);
  std::vector<std::vector<double>> a(n);
  std::vector<double> unit(n, 0.0);
  const Case found(sky, plain, one);
  for (std::size_t i = 0; i < n; ++i) {
    unit[i] = 1;
    a[i].resize(n);
    found.system.apply(unit, a[i], one);  // proven above
    unit[i] = 0;
    // the constant, in which A is 0: its size is a choice, and no part of the map
    for (double& value : a[i]) value += 0.1;
    if (!(found.system.diagonal()[i] > 0)) a[i][i] += 1;
  }
  const std::vector<double> exact = dense_solution(a, oracle.projected({}));
  const Solution solution =
      destripe(found.system, {}, {.tolerance = 1e-13, .iterations = 500}, one);
  double mean = 0;
  for (std::size_t i = 0; i < n; ++i) mean += (solution.x[i] - exact[i]) / static_cast<double>(n);
  const auto iterated = found.map(solution.x), direct = oracle.map(exact);
  double rms = 0;
  for (std::size_t p = 0; p < direct.size(); ++p) rms += direct[p].i * direct[p].i;
  rms = std::sqrt(rms / static_cast<double>(direct.size()));
  for (std::size_t p = 0; p < direct.size(); ++p) {
    if (direct[p].i == 0) continue;
    EXPECT_NEAR(iterated[p].i + mean, direct[p].i, 1e-9 * rms);
    EXPECT_NEAR(iterated[p].q, direct[p].q, 1e-9 * rms);
    EXPECT_NEAR(iterated[p].u, direct[p].u, 1e-9 * rms);
  }
}

TEST(Destriping, WithTheDiagonalAloneTakesMoreStepsToTheSameSolution) {
  SerialExecutor one;
  const Case found(Healpix(16), scan({.step = 10, .offsets = 5, .noise = 1}), one);
  const OffsetPrior prior(14, {2, -0.9, -0.05});
  const SolveLimits limits{.tolerance = 1e-12, .iterations = 1000};
  const Solution band = destripe(found.system, prior, limits, one);
  const Solution diagonal =
      destripe(found.system, prior, limits, one, {}, nullptr, Preconditioner::kDiagonal);
  ASSERT_TRUE(band.converged);
  ASSERT_TRUE(diagonal.converged);
  EXPECT_LT(worst(band.x, diagonal.x), 1e-8);
  EXPECT_LT(band.residuals.size(), diagonal.residuals.size());
}

TEST(Destriping, WithAPriorIsTheDenseSolution) {
  SerialExecutor one;
  const Healpix sky(16);
  std::vector<PlainStream> plain = scan({.samples = 6000, .step = 250, .offsets = 5, .noise = 1});
  for (PlainStream& stream : plain) stream.flags.assign(stream.pixels.size(), 0);
  for (std::size_t i = 500; i < 750; ++i) plain[1].flags[i] = 1;  // a baseline that is left out
  const Case found(sky, plain, one, {.least_reciprocal = 1e-3});
  const std::size_t n = found.system.size(), each = 24;
  ASSERT_EQ(n, 14 * each);
  const OffsetPrior prior(14, {3, -1, -0.3, 0.05});
  std::vector<std::vector<double>> a(n, std::vector<double>(n));
  std::vector<double> unit(n, 0.0);
  const auto diagonal = found.system.diagonal();
  for (std::size_t i = 0; i < n; ++i) {
    unit[i] = 1;
    found.system.apply(unit, a[i], one);
    unit[i] = 0;
    if (!(diagonal[i] > 0)) a[i][i] = 1;
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t lag = i < k ? k - i : i - k;
      if (i / each != k / each || lag > 3 || !(diagonal[i] > 0) || !(diagonal[k] > 0)) continue;
      a[i][k] += prior[0][lag];
    }
  }
  const auto b = found.system.right_side();
  const std::vector<double> exact = dense_solution(a, {b.begin(), b.end()});
  const Solution solution =
      destripe(found.system, prior, {.tolerance = 1e-13, .iterations = 500}, one);
  EXPECT_TRUE(solution.converged);
  EXPECT_EQ(solution.x[each + 2], 0);
  for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(solution.x[i], exact[i], 1e-10);
}

TEST(Destriping, HasTheSameBytesForAnyNumberOfThreads) {
  SerialExecutor one;
  TestThreads three(3);
  const Healpix sky(64);
  const std::vector<PlainStream> plain = scan({.nside = 64, .offsets = 5, .noise = 1});
  const Case a(sky, plain, one), b(sky, plain, three);
  const SolveLimits limits{.tolerance = 1e-10};
  const Solution x = destripe(a.system, {}, limits, one), y = destripe(b.system, {}, limits, three);
  EXPECT_EQ(x.x, y.x);
  EXPECT_EQ(x.residuals, y.residuals);
  const auto map_a = a.map(x.x), map_b = b.map(y.x);
  for (std::size_t p = 0; p < map_a.size(); ++p) {
    EXPECT_EQ(map_a[p].i, map_b[p].i);
    EXPECT_EQ(map_a[p].u, map_b[p].u);
  }
}

TEST(Destriping, LeavesOutWhatIsFlaggedOrNotFinite) {
  SerialExecutor one;
  const Healpix sky(16);
  std::vector<PlainStream> plain = scan({.offsets = 5, .noise = 0.1});
  for (PlainStream& stream : plain) stream.flags.assign(stream.pixels.size(), 0);
  for (std::size_t i = 0; i < 50; ++i) plain[2].flags[i] = 1;  // a whole baseline
  std::vector<PlainStream> broken = plain;
  for (std::size_t i = 0; i < 50; ++i) broken[2].signal[i] = 1e30;  // where nobody looks
  plain[5].flags[777] = 1;
  broken[5].signal[777] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(compressed(sky, broken)[5].not_finite, 1U);
  EXPECT_EQ(compressed(sky, broken)[2].flagged, 50U);
  const Case a(sky, plain, one), b(sky, broken, one);
  EXPECT_GE(b.system.left_baselines(), 1U);
  const SolveLimits limits{.tolerance = 1e-10};
  const Solution x = destripe(a.system, {}, limits, one), y = destripe(b.system, {}, limits, one);
  EXPECT_TRUE(y.converged);
  EXPECT_EQ(x.x, y.x);
  EXPECT_EQ(y.x[2 * 120], 0);
}

TEST(Destriping, TakesTheConstantOfWhatIsLeftOutWithGoodSamples) {
  SerialExecutor one;
  const Healpix sky(16);
  std::vector<PlainStream> plain = scan({.offsets = 5, .noise = 0.1});
  plain[2].flags.assign(plain[2].pixels.size(), 0);
  for (std::size_t i = 0; i < 50; ++i) plain[2].flags[i] = i % 5 < 3 ? 1 : 0;
  const Case found(sky, plain, one);
  EXPECT_TRUE(found.system.knows_constant());
  const PlainSystem oracle(sky, plain, {});
  const Solution solution = destripe(found.system, {}, {.tolerance = 1e-12}, one);
  ASSERT_TRUE(solution.converged);
  const std::vector<double> b = oracle.projected({}), ax = oracle.projected(solution.x);
  double size = 0;
  for (const double x : b) size = std::max(size, std::fabs(x));
  EXPECT_LT(worst(b, ax), 1e-10 * size);
}

TEST(Destriping, SaysWhereThereIsNothingToMap) {
  SerialExecutor one;
  const Healpix sky(16);
  std::vector<PlainStream> plain = scan({});
  for (PlainStream& stream : plain) stream.flags.assign(stream.pixels.size(), 1);
  EXPECT_EQ(thrown_by([&] { Case(sky, plain, one); }).status, kNoGoodData);
  // one detector alone sees each pixel at too few angles
  const std::vector<PlainStream> first(1, scan({.nside = 64, .samples = 300})[0]);
  EXPECT_EQ(thrown_by([&] { Case(Healpix(64), first, one); }).status, kNoGoodData);
}

TEST(SkySums, DoNotDependOnHowStreamsAreCutIntoCalls) {
  SerialExecutor one;
  const Healpix sky(16);
  const std::vector<Stream> streams = compressed(sky, scan({.noise = 1}));
  SkySums whole(sky), parts(sky);
  whole.add(streams, one);
  for (const Stream& stream : streams) parts.add({&stream, 1}, one);
  ASSERT_EQ(whole.hit_tiles(), parts.hit_tiles());
  std::size_t hits = 0;
  for (const std::int32_t tile : whole.hit_tiles()) {
    const auto a = whole.tile(static_cast<std::size_t>(tile));
    const auto b = parts.tile(static_cast<std::size_t>(tile));
    for (std::size_t p = 0; p < a.size(); ++p) {
      hits += a[p].hits;
      EXPECT_EQ(a[p].hits, b[p].hits);
      EXPECT_EQ(a[p].weights.qu, b[p].weights.qu);
      EXPECT_EQ(a[p].signal.u, b[p].signal.u);
    }
  }
  EXPECT_EQ(hits, 14U * 6000U);
}

TEST(Symmetric3, InvertsAndKnowsTheCondition) {
  const CounterRng random(4, 4);
  for (std::uint64_t i = 0; i < 200; ++i) {
    Symmetric3 m;
    for (std::uint64_t k = 0; k < 6; ++k) {  // weights of six samples
      const double angle = 6.28 * random.uniform(6 * i + k);
      const double q = std::cos(angle), u = std::sin(angle);
      m = {m.ii + 1, m.iq + q, m.iu + u, m.qq + q * q, m.qu + q * u, m.uu + u * u};
    }
    const Conditioned found = invert(m, 1e-8);
    ASSERT_GT(found.reciprocal, 0);
    ASSERT_LE(found.reciprocal, 1);
    const Symmetric3& v = found.inverse;
    const Stokes column = m * Stokes{v.iq, v.qq, v.qu};
    EXPECT_NEAR(column.i, 0, 1e-12 / found.reciprocal);
    EXPECT_NEAR(column.q, 1, 1e-12 / found.reciprocal);
    EXPECT_NEAR(column.u, 0, 1e-12 / found.reciprocal);
  }
  EXPECT_DOUBLE_EQ(invert({4, 0, 0, 2, 0, 1}, 0).reciprocal, 0.25);
  EXPECT_EQ(invert({1, 1, 0, 1, 0, 0}, 1e-8).inverse.ii, 0);  // one sample
  EXPECT_EQ(invert({}, 0).reciprocal, 0);
  EXPECT_EQ(invert({4, 0, 0, 2, 0, 1e-9}, 1e-8).inverse.ii, 0);
}

}  // namespace
}  // namespace skyloom
