// SPDX-License-Identifier: BSD-3-Clause
// Templates on pixels, against sums over the pieces between the knots.
#include "fiberloom/redshift/sampler.hpp"

#include <gtest/gtest.h>

#include "fiberloom/redshift/test_spectra.hpp"

namespace fiberloom::redshift {
namespace {

Template random_template(std::size_t nbasis, std::vector<double> wave) {
  Template t;
  t.wave = std::move(wave);
  t.flux = Array2D<double>(nbasis, t.wave.size());
  const CounterRng rng(4, 4);
  for (std::size_t i = 0; i < t.flux.size(); ++i) t.flux.data()[i] = rng.normal(i);
  return t;
}

std::vector<double> steps(double first, double step, std::size_t n) {
  std::vector<double> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = first + step * static_cast<double>(i);
  return out;
}

TEST(BinEdges, AreMidpointsAndTheOuterOnesAsFarOut) {
  const std::vector<double> edges = bin_edges(std::vector<double>{1, 2, 4});
  EXPECT_EQ(edges, (std::vector<double>{0.5, 1.5, 3, 5}));
}

/// Every kernel, pixel by pixel, against test::mean_over().
void expect_means(const Template& t, std::span<const WaveGrid> grids, const ScanKernels& kernels) {
  const Sampler sampler(t, grids, 5, kernels);
  const std::size_t nb = t.nbasis();
  std::vector<double> pack(sampler.pack_size(), std::nan(""));
  const ZPack z{-0.003, 0, 1e-5, 0.01, 0.05, 0.1, 0.12, 0.13};
  sampler.sample(z, pack.data());
  for (std::size_t g = 0; g < grids.size(); ++g) {
    const std::size_t n = grids[g].wave.size(), padded = (n + kTile - 1) / kTile * kTile;
    for (std::size_t i = 0; i < padded + 10; ++i) {
      for (std::size_t at = 0; at < nb * kLanes; ++at) {
        const double found = pack[sampler.grid_offset(g) + i * nb * kLanes + at];
        if (i < 5 || i >= n + 5) {
          ASSERT_EQ(found, 0) << g << " " << i;
        } else if (i % 29 == 0 || i < 8 || i + 3 > n) {
          const double* edge = grids[g].edges.data() + i - 5;
          ASSERT_NEAR(found, test::mean_over(t, at / kLanes, z[at % kLanes], edge[0], edge[1]),
                      4e-11)
              << "grid " << g << " pixel " << i - 5 << " vector and lane " << at;
        }
      }
    }
  }
}

TEST(Sampler, GivesTheMeanOfThePiecewiseLinearTemplate) {
  std::vector<double> in_log = steps(3.5, 1e-4, 3000);
  for (double& w : in_log) w = std::pow(10.0, w);
  std::vector<double> uneven = steps(3000, 2, 2000);
  for (std::size_t i = 1; i + 1 < uneven.size(); i += 3) uneven[i] += 0.9;
  // pixels of one width, and of widths that grow past the knots' distance
  std::vector<double> growing{3600};
  while (growing.size() < 301) {
    growing.push_back(growing.back() + 0.05 * static_cast<double>(growing.size()));
  }
  const std::vector<WaveGrid> grids{wave_grid(steps(3600, 0.8, 700)), wave_grid(growing)};
  for (const auto& wave : {steps(3000, 0.1, 30000), in_log, uneven}) {
    for (const std::size_t nbasis : {1, 3, 4, 5, 9}) {
      const Template t = random_template(nbasis, wave);
      expect_means(t, grids, scan_kernels_reference());
      for (const Isa isa : available_isas()) {
        SCOPED_TRACE(isa_name(isa));
        expect_means(t, grids, scan_kernels(isa));
      }
    }
  }
}

TEST(Sampler, PartsOfAGridAreWhatStandsInThePackToTheLastBit) {
  std::vector<double> uneven = steps(900, 0.7, 4000);
  for (std::size_t i = 1; i + 1 < uneven.size(); i += 3) uneven[i] += 0.3;
  constexpr std::size_t kHalo = 5, kCount = 64;
  const std::vector<WaveGrid> grids{wave_grid(steps(3600, 0.8, 700)),
                                    wave_grid(steps(4700, 2, 301))};
  const ZPack z{1.2, 1.9, 2.1, 2.4, 2.9, 3.0, 3.1, 3.4};  // reaches 1980 to 8150, later ones less
  for (const auto& wave : {steps(900, 0.7, 4000), uneven}) {
    Template t = random_template(3, wave);
    t.igm = Igm::kInoue14;
    const Sampler sampler(t, grids, kHalo, scan_kernels(active_isa()), IgmEdge::kShared);
    std::vector<double> pack(sampler.pack_size(), std::nan(""));
    sampler.sample(z, pack.data());
    std::vector<double> part(sampler.part_size(kCount));
    for (std::size_t g = 0; g < grids.size(); ++g) {
      const Sampler::OnGrid on = sampler.on_grid(z, g);
      const std::size_t padded = (grids[g].wave.size() + kTile - 1) / kTile * kTile;
      for (std::size_t first = 0; first < padded; first += kCount) {
        const std::size_t count = std::min(kCount, padded - first);
        std::fill(part.begin(), part.end(), std::nan(""));
        sampler.sample(on, first, count, part.data());
        const double* expected = pack.data() + sampler.grid_offset(g) + first * t.nbasis() * kLanes;
        ASSERT_TRUE(std::equal(expected, expected + sampler.part_size(count), part.begin()))
            << g << " " << first;
      }
    }
  }
}

TEST(Sampler, OfAConstantIsThatConstantWithoutAnyFactor) {
  Template t = random_template(1, steps(1000, 0.5, 20000));
  std::fill(t.flux.data(), t.flux.data() + t.flux.size(), 3.25);
  const std::vector<WaveGrid> grids{wave_grid(steps(3600, 0.8, 100))};
  const Sampler sampler(t, grids, 0, scan_kernels_reference());
  std::vector<double> pack(sampler.pack_size());
  sampler.sample({0, 0.5, 1, 1.5, 2, 2.1, 2.2, 2.3}, pack.data());
  for (std::size_t i = 0; i < 100 * kLanes; ++i) EXPECT_NEAR(pack[i], 3.25, 1e-11);
}

TEST(Sampler, KnowsWhereTheTemplateReaches) {
  const Template t = random_template(1, steps(3000, 1, 3001));
  const std::vector<WaveGrid> grids{wave_grid(steps(3600, 1, 100)), wave_grid(steps(5000, 1, 100))};
  const Sampler sampler(t, grids, 0, scan_kernels_reference());
  EXPECT_TRUE(sampler.covers(0));
  EXPECT_TRUE(sampler.covers(3599.5 / 3000 - 1 - 1e-9));
  EXPECT_FALSE(sampler.covers(3599.5 / 3000 - 1 + 1e-9));
  EXPECT_FALSE(sampler.covers(5099.5 / 6000 - 1 - 1e-9));
}

}  // namespace
}  // namespace fiberloom::redshift
