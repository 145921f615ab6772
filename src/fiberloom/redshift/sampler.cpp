// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/redshift/sampler.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace fiberloom::redshift {
namespace {

/// Knots per unit where the steps are one number, else 0. An estimate of the knot may be off by one
/// knot's rounding, no more.
double knots_per_unit(std::span<const double> x) {
  const double step = (x.back() - x.front()) / static_cast<double>(x.size() - 1);
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double expected = x.front() + step * static_cast<double>(k);
    if (std::abs(x[k] - expected) > 1e-7 * step) return 0;
  }
  return 1 / step;
}

}  // namespace

Integrals::Integrals(std::span<const double> wave, View2D<const double> flux)
    : nbasis_(flux.rows), knots_(wave.size()), first_wave_(wave.front()), last_wave_(wave.back()) {
  const auto nb = static_cast<int>(nbasis_);
  const auto stride = static_cast<std::size_t>(knot_stride(nb));
  const int x_at = knot_x(nb), value_at = knot_value(nb), slope_at = knot_slope(nb);
  rows_ = Buffer<double>(knots_ * stride + 2 * kLanes);  // packs are loaded past the last row
  std::vector<double> sum(nbasis_, 0.0);
  for (std::size_t k = 0; k < knots_; ++k) {
    double* const row = rows_.data() + k * stride;
    std::fill_n(row, stride, 0.0);
    row[x_at] = wave[k];
    const double step = k + 1 < knots_ ? wave[k + 1] - wave[k] : 0;
    for (std::size_t a = 0; a < nbasis_; ++a) {
      row[a] = sum[a];
      row[value_at + a] = flux(a, k);
      if (k + 1 == knots_) continue;
      row[slope_at + a] = 0.5 * (flux(a, k + 1) - flux(a, k)) / step;
      sum[a] += 0.5 * (flux(a, k + 1) + flux(a, k)) * step;
    }
  }
  std::fill_n(rows_.data() + knots_ * stride, 2 * kLanes, 0.0);
  first_ = wave.front();
  per_ = knots_per_unit(wave);
  if (per_ > 0) return;
  std::vector<double> logs(knots_);
  for (std::size_t k = 0; k < knots_; ++k) logs[k] = std::log10(wave[k]);
  first_ = logs.front();
  per_ = knots_per_unit(logs);
  in_log10_ = per_ > 0;
}

KnotTable Integrals::table() const noexcept {
  return {.nb = static_cast<int>(nbasis_),
          .last = static_cast<long>(knots_) - 2,
          .stride = knot_stride(static_cast<int>(nbasis_)),
          .rows = rows_.data(),
          .first = first_,
          .per = per_,
          .in_log10 = in_log10_};
}

Sampler::Sampler(const Template& source, std::span<const WaveGrid> grids, std::size_t halo,
                 const ScanKernels& kernels, IgmEdge edge)
    : integrals_(source.wave, source.flux.view()),
      grids_(grids),
      kernels_(kernels),
      halo_(halo),
      lowest_(HUGE_VAL),
      highest_(0) {
  for (const WaveGrid& g : grids) {
    offset_.push_back(size_);
    const std::size_t padded = (g.wave.size() + kTile - 1) / kTile * kTile;
    size_ += (padded + 2 * halo) * nbasis() * kLanes;
    lowest_ = std::min(lowest_, g.edges.front());
    highest_ = std::max(highest_, g.edges.back());
    igm_.emplace_back(source.igm, g.wave, edge);
  }
}

bool Sampler::covers(double z) const noexcept {
  return lowest_ >= integrals_.first() * (1 + z) && highest_ <= integrals_.last() * (1 + z);
}

Sampler::Edges Sampler::edges_within(std::size_t grid, double least_z,
                                     double most_z) const noexcept {
  const std::vector<double>& edges = grids_[grid].edges;
  const auto low = std::lower_bound(edges.begin(), edges.end(), integrals_.first() * (1 + most_z));
  const auto high = std::upper_bound(low, edges.end(), integrals_.last() * (1 + least_z));
  return {static_cast<std::size_t>(low - edges.begin()),
          static_cast<std::size_t>(high - edges.begin())};
}

double Sampler::coverage(double z) const noexcept {
  std::size_t all = 0, reached = 0;
  for (std::size_t g = 0; g < grids_.size(); ++g) {
    const Edges e = edges_within(g, z, z);
    all += grids_[g].wave.size();
    reached += e.last > e.first ? e.last - e.first - 1 : 0;
  }
  return all == 0 ? 0 : static_cast<double>(reached) / static_cast<double>(all);
}

Sampler::Reach Sampler::reach(const ZPack& z, std::size_t grid) const noexcept {
  const auto [lowest, highest] = std::minmax_element(z.begin(), z.end());
  const Edges e = edges_within(grid, *lowest, *highest);
  const std::size_t n = grids_[grid].wave.size();
  Reach out{0, (n + kTile - 1) / kTile * kTile};
  if (e.first > 0) out.first = (e.first + halo_ + kReachTile - 1) / kReachTile * kReachTile;
  if (e.last <= n) {
    out.last = e.last > halo_ + 1 ? (e.last - 1 - halo_) / kReachTile * kReachTile : 0;
  }
  return out.last > out.first ? out : Reach{0, 0};
}

Sampler::OnGrid Sampler::on_grid(const ZPack& z, std::size_t grid) const noexcept {
  const auto [lowest, highest] = std::minmax_element(z.begin(), z.end());
  OnGrid out{z, grid, edges_within(grid, *lowest, *highest), {}};
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    out.absorbed[lane] = igm_[grid].absorbed(z[lane]);
  }
  return out;
}

void Sampler::sample(const ZPack& z, double* pack) const noexcept {
  for (std::size_t g = 0; g < grids_.size(); ++g) {
    const std::size_t padded = (grids_[g].wave.size() + kTile - 1) / kTile * kTile;
    sample(on_grid(z, g), 0, padded, pack + offset_[g]);
  }
}

void Sampler::sample(const OnGrid& on, std::size_t first, std::size_t count,
                     double* part) const noexcept {
  const std::size_t stride = nbasis() * kLanes, end = first + count + halo_;
  // pixels from `halo_` before the grid on, so that no index is below zero
  const std::size_t last = std::min(end, on.edges.last > 0 ? on.edges.last - 1 : 0);
  const std::size_t low = std::max(first, on.edges.first + halo_) - first;
  const std::size_t high = last + halo_ > first ? last + halo_ - first : 0;
  if (high <= low) {
    std::fill_n(part, part_size(count), 0.0);
    return;
  }
  std::fill(part, part + low * stride, 0.0);
  std::fill(part + high * stride, part + part_size(count), 0.0);
  const std::size_t pixel = first + low - halo_;
  const WaveGrid& grid = grids_[on.grid];
  kernels_.rebin(integrals_.table(), on.z.data(), static_cast<long>(high - low + 1),
                 grid.edges.data() + pixel, grid.log_edges.data() + pixel, part + low * stride);
  absorb(on, pixel, pixel + high - low, part + low * stride);
}

void Sampler::absorb(const OnGrid& on, std::size_t first, std::size_t last,
                     double* pixels) const noexcept {
  std::size_t i = std::min(last, *std::max_element(on.absorbed.begin(), on.absorbed.end()));
  if (i <= first) return;
  const std::size_t nb = nbasis();
  const auto walk = [&](std::size_t lane) { return IgmWalk(igm_[on.grid], on.z[lane], i); };
  std::array<IgmWalk, kLanes> walks{walk(0), walk(1), walk(2), walk(3),
                                    walk(4), walk(5), walk(6), walk(7)};
  while (i-- > first) {
    std::array<double, kLanes> factor;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      factor[lane] = i < on.absorbed[lane] ? walks[lane].at(i) : 1.0;
    }
    double* const pixel = pixels + (i - first) * nb * kLanes;
    for (std::size_t a = 0; a < nb; ++a) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) pixel[a * kLanes + lane] *= factor[lane];
    }
  }
}

}  // namespace fiberloom::redshift
