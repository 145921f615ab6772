// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/redshift/fast_scan.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace fiberloom::redshift {
namespace {

/// Pixels of a tile: a group of columns of it, 64 x 6 x 8 floats, stays in the first cache while
/// all targets pass, and all groups in the second.
constexpr std::size_t kFastTile = 64;

/// Vectors are at most this in products: what hydrogen leaves of light, squared, is no number that
/// floats are slow with.
constexpr double kLargest = 0x1p40;

/// The largest power of two at or below a number; of 0, 1.
double power_of_two(double value) { return value > 0 ? std::exp2(std::ilogb(value)) : 1; }

}  // namespace

FastScan::FastScan(const TargetSet& set, Executor& executor)
    : groups_((set.targets.size() + kGatherTargets - 1) / kGatherTargets),
      ndiag_(2 * set.halo() + 1),
      with_sky_(set.sky_terms > 0),
      weight_unit_(groups_ * kGatherTargets, 1.0),
      flux_unit_(groups_ * kGatherTargets, 1.0) {
  executor.run(set.targets.size(), [&](std::size_t t) { find_units(set.targets[t], t); });
  for (std::size_t g = 0; g < set.grids.size(); ++g) grids_.push_back(grid_of(set, g, executor));
}

void FastScan::find_units(const PreparedTarget& target, std::size_t t) {
  double weight = 0, weighted_flux = 0;
  for (const Block& block : target.blocks) {
    for (std::size_t i = 0; i < block.pixels; ++i) {
      weight = std::max(weight, block.weight[i]);
      weighted_flux = std::max(weighted_flux, std::abs(block.weight[i] * block.flux[i]));
    }
  }
  weight_unit_[t] = power_of_two(weight);
  flux_unit_[t] = power_of_two(weighted_flux);
}

FastScan::Grid FastScan::grid_of(const TargetSet& set, std::size_t g, Executor& executor) const {
  Grid grid;
  grid.padded = (set.grids[g].wave.size() + kTile - 1) / kTile * kTile;
  grid.rows = Buffer<double>(grid.padded * ndiag_, 0.0);
  const std::size_t tiles = (grid.padded + kFastTile - 1) / kFastTile;
  const std::size_t size = tiles * groups_ * kFastTile * kGatherTargets;
  grid.weight = Buffer<float>(size, 0.0F);
  grid.weighted_flux = Buffer<float>(size, 0.0F);
  executor.run(tiles, [&](std::size_t tile) { fill_tile(set, g, tile, grid); });
  return grid;
}

void FastScan::fill_tile(const TargetSet& set, std::size_t g, std::size_t tile, Grid& grid) const {
  const std::size_t first = tile * kFastTile, end = std::min(first + kFastTile, grid.padded);
  std::array<double, kFastTile> count{};
  for (std::size_t t = 0; t < set.targets.size(); ++t) {
    const std::size_t group = t / kGatherTargets;
    for (const Block& block : set.targets[t].blocks) {
      if (block.grid != g) continue;
      const std::size_t shift = ndiag_ / 2 - block.ndiag / 2;
      for (std::size_t i = first; i < std::min(end, block.pixels); ++i) {
        if (block.weight[i] == 0) continue;
        const std::size_t at = ((tile * groups_ + group) * kFastTile + i - first) * kGatherTargets +
                               t % kGatherTargets;
        grid.weight[at] += static_cast<float>(block.weight[i] / weight_unit_[t]);
        grid.weighted_flux[at] +=
            static_cast<float>(block.weight[i] * block.flux[i] / flux_unit_[t]);
        count[i - first] += 1;
        for (std::size_t m = 0; m < block.ndiag; ++m) {
          grid.rows[i * ndiag_ + m + shift] += block.rows[i * block.ndiag + m];
        }
      }
    }
  }
  for (std::size_t i = first; i < end; ++i) {
    for (std::size_t m = 0; m < ndiag_; ++m) {
      grid.rows[i * ndiag_ + m] /= std::max(count[i - first], 1.0);
    }
  }
}

FastScan::Scales FastScan::scales(const Template& t) {
  const std::size_t nb = t.nbasis();
  Scales s;
  std::vector<double> unit;
  for (std::size_t a = 0; a < nb; ++a) {
    double most = 0;
    for (std::size_t k = 0; k < t.wave.size(); ++k) most = std::max(most, std::abs(t.flux(a, k)));
    unit.push_back(power_of_two(most) / kLargest);
    s.of_vector.push_back(1 / unit.back());
  }
  for (std::size_t a = 0; a < nb; ++a) {
    for (std::size_t b = a; b < nb; ++b) s.unit.push_back(unit[a] * unit[b]);
  }
  s.unit.insert(s.unit.end(), unit.begin(), unit.end());
  return s;
}

FastScan::Scratch FastScan::scratch(const Fitter& fitter) const {
  const auto nb = static_cast<int>(fitter.nbasis());
  const int groups = column_groups(triangle(nb)) + column_groups(nb);
  Scratch s;
  s.scales = scales(fitter.source());
  s.doubles = fitter.normal_doubles();
  s.columns = Buffer<float>(static_cast<std::size_t>(groups) * kFastTile * kGatherColumns * kLanes);
  s.normal = Buffer<double>(groups_ * kGatherTargets * s.doubles);
  return s;
}

void FastScan::accumulate(const Fitter& fitter, std::span<const Sampler::Reach> reach,
                          const double* pack, Scratch& s) const {
  static_assert(kFastTile == kReachTile);  // a tile is reached, or not
  const auto nb = static_cast<int>(fitter.nbasis());
  s.normal.fill(0);
  for (std::size_t g = 0; g < grids_.size(); ++g) {
    const Grid& grid = grids_[g];
    const double* t = pack + fitter.sampler().grid_offset(g);
    for (std::size_t i = reach[g].first; i < reach[g].last; i += kFastTile) {
      const std::size_t count = std::min(kFastTile, reach[g].last - i);
      fitter.kernels().products(nb, static_cast<int>(ndiag_), static_cast<long>(count),
                                grid.rows.data() + i * ndiag_, t + i * fitter.nbasis() * kLanes,
                                s.scales.of_vector.data(), s.columns.data());
      gather_tile(fitter, g, i / kFastTile, count, s);
    }
  }
  give_units(fitter, s);
}

void FastScan::gather_tile(const Fitter& fitter, std::size_t g, std::size_t tile, std::size_t count,
                           Scratch& s) const {
  const auto nb = static_cast<int>(fitter.nbasis());
  const int pairs = triangle(nb), pair_groups = column_groups(pairs);
  const std::size_t column_size = count * kGatherColumns * kLanes;
  const auto gather = [&](int group_of_columns, int columns, const Buffer<float>& values,
                          std::size_t to) {
    for (std::size_t group = 0; group < groups_; ++group) {
      fitter.kernels().gather(
          static_cast<long>(count), columns,
          values.data() + (tile * groups_ + group) * kFastTile * kGatherTargets,
          s.columns.data() + static_cast<std::size_t>(group_of_columns) * column_size,
          s.normal.data() + group * kGatherTargets * s.doubles + to, static_cast<long>(s.doubles));
    }
  };
  for (int c = 0; c < pair_groups; ++c) {
    const int first = kGatherColumns * c;
    gather(c, std::min(kGatherColumns, pairs - first), grids_[g].weight,
           static_cast<std::size_t>(first) * kLanes);
  }
  for (int c = 0; c < column_groups(nb); ++c) {
    const int first = kGatherColumns * c, columns = std::min(kGatherColumns, nb - first);
    gather(pair_groups + c, columns, grids_[g].weighted_flux,
           static_cast<std::size_t>(pairs + first) * kLanes);
    if (!with_sky_) continue;
    gather(pair_groups + c, columns, grids_[g].weight,
           fitter.sky_at(g) + static_cast<std::size_t>(first) * kLanes);
  }
}

void FastScan::give_units(const Fitter& fitter, Scratch& s) const {
  const std::size_t nb = fitter.nbasis(), pairs = s.scales.unit.size() - nb;
  const std::size_t columns = s.doubles / kLanes;
  for (std::size_t t = 0; t < groups_ * kGatherTargets; ++t) {
    double* normal = s.normal.data() + t * s.doubles;
    for (std::size_t column = 0; column < columns; ++column) {
      const bool of_flux = column >= pairs && column < pairs + nb;
      const double of_column =
          s.scales.unit[column < pairs ? column : pairs + (column - pairs) % nb];
      const double unit = of_column * (of_flux ? flux_unit_ : weight_unit_)[t];
      for (int lane = 0; lane < kLanes; ++lane) *normal++ *= unit;
    }
  }
}

}  // namespace fiberloom::redshift
