// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/redshift/sky_continuum.hpp"

#include <algorithm>
#include <cmath>

#include "loom/base/median.hpp"

namespace fiberloom::redshift {
namespace {

/// Median of x^2 where x is a Gaussian of width 1.
constexpr double kMedianSquare = 0.454936;
constexpr int kHalvings = 60;

/// Sums over a target's blocks of one grid.
struct Sums {
  double weight = 0, weighted_flux = 0;
};

Sums sums_of(const PreparedTarget& target, std::size_t grid) {
  Sums out;
  for (const Block& block : target.blocks) {
    if (block.grid != grid) continue;
    for (std::size_t i = 0; i < block.pixels; ++i) {
      out.weight += block.weight[i];
      out.weighted_flux += block.weight[i] * block.flux[i];
    }
  }
  return out;
}

/// R^T W 1: what u = B^T W 1 is of the template before it is blurred.
Buffer<double> pull_of(const Block& block) {
  Buffer<double> pull(block.padded(), 0.0);
  const std::size_t half = block.ndiag / 2;
  for (std::size_t i = 0; i < block.pixels; ++i) {
    for (std::size_t m = 0; m < block.ndiag; ++m) {
      if (i + m < half || i + m - half >= block.pixels) continue;  // R has nothing there
      pull[i + m - half] += block.weight[i] * block.rows[i * block.ndiag + m];
    }
  }
  return pull;
}

}  // namespace

/// The variance that makes the median of flux^2 / (variance + noise) what a Gaussian's is.
double SkyMeans::excess_variance(const std::vector<Mean>& means) {
  std::vector<double> ratios(means.size());
  const auto median_at = [&](double variance) {
    std::transform(means.begin(), means.end(), ratios.begin(),
                   [&](const Mean& m) { return m.flux * m.flux / (variance + m.variance); });
    return upper_median(ratios);
  };
  if (median_at(0) <= kMedianSquare) return 0;
  double low = 0, high = 0;
  for (const Mean& m : means) high = std::max(high, m.flux * m.flux / kMedianSquare);
  for (int k = 0; k < kHalvings; ++k) {
    const double middle = 0.5 * (low + high);
    (median_at(middle) > kMedianSquare ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

void SkyMeans::add(const TargetSet& skies) {
  for (std::size_t g = 0; g < skies.grids.size(); ++g) {
    const std::vector<double>& wave = skies.grids[g].wave;
    auto camera = std::find_if(cameras_.begin(), cameras_.end(),
                               [&](const Camera& c) { return c.wave == wave; });
    if (camera == cameras_.end()) camera = cameras_.insert(camera, {wave, {}});
    for (const PreparedTarget& target : skies.targets) {
      const Sums s = sums_of(target, g);
      if (s.weight > 0) camera->means.push_back({s.weighted_flux / s.weight, 1 / s.weight});
    }
  }
}

std::vector<SkyWidth> SkyMeans::widths() const {
  std::vector<SkyWidth> out;
  for (const Camera& c : cameras_) {
    const bool enough = c.means.size() >= kLeastSkyFibres;
    out.push_back({c.wave, enough ? std::sqrt(excess_variance(c.means)) : 0});
  }
  return out;
}

void add_sky_continuum(TargetSet& set, std::span<const SkyWidth> widths) {
  std::vector<double> sigma(set.grids.size(), 0.0);
  for (std::size_t g = 0; g < sigma.size(); ++g) {
    for (const SkyWidth& w : widths) {
      if (w.wave == set.grids[g].wave) sigma[g] = w.sigma;
    }
  }
  if (std::all_of(sigma.begin(), sigma.end(), [](double s) { return s == 0; })) return;
  set.sky_terms = set.grids.size();
  for (PreparedTarget& target : set.targets) {
    target.sky.clear();
    target.sky_gain = 0;
    for (std::size_t g = 0; g < sigma.size(); ++g) {
      const Sums s = sums_of(target, g);
      const double variance = sigma[g] * sigma[g], beta = variance / (1 + variance * s.weight);
      target.sky.push_back({beta, s.weighted_flux});
      target.sky_gain += beta * s.weighted_flux * s.weighted_flux;
    }
    for (Block& block : target.blocks) block.pull = pull_of(block);
  }
}

}  // namespace fiberloom::redshift
