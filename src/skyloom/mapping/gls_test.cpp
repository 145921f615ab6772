// SPDX-License-Identifier: BSD-3-Clause
// Maximum-likelihood maps against dense inverses.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "loom/linalg/test_dense.hpp"
#include "loom/testing/test_executor.hpp"
#include "skyloom/mapping/gls_system.hpp"
#include "skyloom/mapping/test_scan.hpp"

namespace skyloom {
namespace {

using test::compressed;
using test::Dense;

/// Of noise that rises slowly below a knee: 1 / P by a decaying exponential.
std::vector<double> some_lags(std::size_t reach, double weight) {
  std::vector<double> out(reach + 1);
  for (std::size_t k = 1; k <= reach; ++k) {
    out[k] = -0.12 * weight * std::exp(-0.3 * static_cast<double>(k));
  }
  out[0] = weight;
  return out;
}

/// Streams of a case, and what a GlsSystem makes of them.
struct GlsCase {
  GlsCase(const Healpix& sky, const std::vector<PlainStream>& plain, std::size_t reach,
          Executor& executor)
      : sums(sky),
        offsets(test::system_of(sums, sky, plain, executor)),
        system(offsets, sums, offsets.inverses()) {
    std::vector<std::vector<double>> signals;
    std::vector<GlsStream> streams;
    for (const PlainStream& from : plain) {
      GlsStream to{.unknowns = {}, .q = {}, .u = {}};
      to.filter = system.add_filter(some_lags(reach, from.weight));
      for (std::size_t i = 0; i < from.pixels.size(); ++i) {
        const bool good = from.flags.empty() || from.flags[i] == 0;
        to.unknowns.push_back(good ? system.number_of(from.pixels[i]) : kGap);
        to.gaps += to.unknowns.back() == kGap ? 1 : 0;
        to.q.push_back(static_cast<float>(from.q[i]));
        to.u.push_back(static_cast<float>(from.u[i]));
      }
      streams.push_back(to);
      signals.push_back(from.signal);
    }
    system.add(streams, signals, executor);
    system.finish();
    kept = std::move(streams);
  }
  SkySums sums;
  OffsetSystem offsets;
  GlsSystem system;
  std::vector<GlsStream> kept;
};

/// Four detectors, one with a long gap and some single samples left out.
std::vector<PlainStream> four_streams(std::size_t samples) {
  std::vector<PlainStream> plain = test::scan({.nside = 1, .samples = samples, .noise = 1});
  plain.resize(4);
  for (PlainStream& stream : plain) stream.flags.assign(samples, 0);
  for (std::size_t i = 100; i < 160; ++i) plain[1].flags[i] = 1;
  for (std::size_t i = 5; i < samples; i += 37) plain[1].flags[i] = plain[3].flags[i] = 1;
  return plain;
}

/// The inverse of the good samples' own part of T^-1: what is known with the gaps unknown.
Dense marginal_weights(const std::vector<double>& lags, const GlsStream& stream) {
  const std::size_t n = stream.unknowns.size();
  Dense t(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const std::size_t apart = i > j ? i - j : j - i;
      t(i, j) = apart < lags.size() ? lags[apart] : 0;
    }
  }
  const Dense covariance = test::inverse(t);
  std::vector<std::size_t> good;
  for (std::size_t i = 0; i < n; ++i) {
    if (stream.unknowns[i] != kGap) good.push_back(i);
  }
  Dense part(good.size());
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (std::size_t j = 0; j < good.size(); ++j) part(i, j) = covariance(good[i], good[j]);
  }
  return test::inverse(part);
}

TEST(GlsSystem, IsTheDenseSolutionWithGapsThatNobodyKnows) {
  SerialExecutor one;
  const std::vector<PlainStream> plain = four_streams(260);
  const std::size_t reach = 40;
  GlsCase found(Healpix(1), plain, reach, one);
  ASSERT_GE(found.system.gaps(), 60U + 5 + 7);  // and the samples of cut pixels
  const std::size_t solved = found.system.size() - found.system.gaps();
  ASSERT_GT(solved, 10U);
  Dense a(solved);
  std::vector<double> b(solved, 0.0);
  for (std::size_t s = 0; s < plain.size(); ++s) {
    const GlsStream& stream = found.kept[s];
    const Dense w = marginal_weights(some_lags(reach, plain[s].weight), stream);
    std::vector<std::size_t> good;
    for (std::size_t i = 0; i < stream.unknowns.size(); ++i) {
      if (stream.unknowns[i] != kGap) good.push_back(i);
    }
    const auto column = [&](std::size_t i, std::size_t k) {
      const double parts[] = {1, stream.q[good[i]], stream.u[good[i]]};
      return parts[k];
    };
    for (std::size_t i = 0; i < good.size(); ++i) {
      for (std::size_t j = 0; j < good.size(); ++j) {
        for (std::size_t k = 0; k < 3; ++k) {
          const std::size_t r = 3 * stream.unknowns[good[i]] + k;
          b[r] += column(i, k) * w(i, j) * plain[s].signal[good[j]];
          for (std::size_t l = 0; l < 3; ++l) {
            a(r, 3 * stream.unknowns[good[j]] + l) += column(i, k) * w(i, j) * column(j, l);
          }
        }
      }
    }
  }
  const std::vector<double> exact = times(test::inverse(a), b);
  const Solution solution = found.system.solve({.tolerance = 1e-12, .iterations = 1000}, one);
  ASSERT_TRUE(solution.converged);
  double size = 0;
  for (const double value : exact) size = std::max(size, std::fabs(value));
  for (std::size_t i = 0; i < solved; ++i) EXPECT_NEAR(solution.x[i], exact[i], 1e-8 * size) << i;
}

TEST(GlsSystem, IsSymmetricAndTheSameForAnyThreads) {
  SerialExecutor one;
  TestThreads three(3);
  const std::vector<PlainStream> plain = four_streams(900);
  const GlsCase a(Healpix(1), plain, 60, one), b(Healpix(1), plain, 60, three);
  const std::size_t n = a.system.size();
  std::vector<double> x(n), y(n), tx(n), ty(n), again(n);
  const CounterRng random(8, 1);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = random.normal(i);
    y[i] = random.normal(n + i);
  }
  a.system.apply(x, tx, one);
  a.system.apply(y, ty, one);
  b.system.apply(x, again, three);
  EXPECT_EQ(tx, again);
  double xy = 0, yx = 0, xx = 0;
  for (std::size_t i = 0; i < n; ++i) {
    xy += y[i] * tx[i];
    yx += x[i] * ty[i];
    xx += x[i] * tx[i];
  }
  EXPECT_NEAR(xy, yx, 1e-12 * xx);
  EXPECT_GT(xx, 0);
  EXPECT_EQ(a.system.solve({}, one).x, b.system.solve({}, three).x);
}

TEST(GlsSystem, WithWhiteNoiseIsTheBinnedMap) {
  SerialExecutor one;
  const std::vector<PlainStream> plain = four_streams(900);
  GlsCase found(Healpix(1), plain, 0, one);
  const Solution solution = found.system.solve({.tolerance = 1e-13}, one);
  const TileMaps binned = found.offsets.maps(nullptr, one), map = found.system.maps(solution.x);
  for (std::size_t h = 0; h < map.size(); ++h) {
    for (std::size_t p = 0; p < map[h].size(); ++p) {
      ASSERT_EQ(std::isnan(map[h][p].i), std::isnan(binned[h][p].i));
      if (std::isnan(map[h][p].i)) continue;
      EXPECT_NEAR(map[h][p].i, binned[h][p].i, 1e-6);  // q and u are in single precision here
      EXPECT_NEAR(map[h][p].q, binned[h][p].q, 1e-6);
    }
  }
}

}  // namespace
}  // namespace skyloom
