// SPDX-License-Identifier: BSD-3-Clause
// Ray by ray: Kaczmarz's method (1937; Gordon, Bender & Herman 1970). A pixel's shadow touches at
// most three neighbouring rays, so that those three apart have no pixel in common: what one of them
// does is nothing to the others, and they go side by side.
#include <algorithm>
#include <utility>

#include "tomoloom/reconstruct/ray_engine.hpp"
#include "tomoloom/reconstruct/ray_rows.hpp"

namespace tomoloom {

namespace {

/// Rows of the slice that a task casts.
constexpr std::size_t kRowsPerCastTask = 32;

}  // namespace

template <class Real>
std::size_t RayRows<Real>::parts(std::size_t columns) noexcept {
  return (columns + kRowsPerCastTask - 1) / kRowsPerCastTask;
}

template <class Real>
RayRows<Real>::RayRows(std::size_t columns)
    : columns_(columns),
      bin_(columns, std::vector<std::int32_t>(columns)),
      weight_(columns, std::vector<Real>(kShadowBins * columns)),
      next_(parts(columns), std::vector<std::size_t>(columns)),
      begin_(columns + 1),
      pixels_(kShadowBins * columns * columns),
      weights_(kShadowBins * columns * columns) {}

template <class Real>
template <class Use>
void RayRows<Real>::each_entry(std::size_t part, const Use& use) const {
  const std::size_t end = std::min(columns_, (part + 1) * kRowsPerCastTask);
  for (std::size_t row = part * kRowsPerCastTask; row < end; ++row) {
    for (std::size_t i = 0; i < columns_; ++i) {
      for (std::size_t k = 0; k < kShadowBins; ++k) {
        const auto ray = static_cast<std::ptrdiff_t>(bin_[row][i]) + static_cast<std::ptrdiff_t>(k);
        const Real weight = weight_[row][kShadowBins * i + k];
        if (ray < 0 || ray >= static_cast<std::ptrdiff_t>(columns_) || weight == 0) continue;
        use(static_cast<std::size_t>(ray), static_cast<std::uint32_t>(row * columns_ + i), weight);
      }
    }
  }
}

/// Shadows are cast and counted by parts, which then know where their entries go: in a ray's those
/// of one part stand behind those of the part before.
template <class Real>
void RayRows<Real>::cast(const RayPair<Real>& pair, std::size_t angle, Executor& executor) {
  executor.run(parts(columns_), [&](std::size_t part) {
    const std::size_t end = std::min(columns_, (part + 1) * kRowsPerCastTask);
    for (std::size_t row = part * kRowsPerCastTask; row < end; ++row) {
      pair.cast(angle, row, bin_[row], weight_[row]);
    }
    std::vector<std::size_t>& count = next_[part];
    std::fill(count.begin(), count.end(), 0);
    each_entry(part, [&](std::size_t ray, std::uint32_t, Real) { ++count[ray]; });
  });
  std::size_t at = 0;
  for (std::size_t ray = 0; ray < columns_; ++ray) {
    begin_[ray] = at;
    for (std::vector<std::size_t>& part : next_) at += std::exchange(part[ray], at);
  }
  begin_[columns_] = at;
  executor.run(parts(columns_), [&](std::size_t part) {
    each_entry(part, [&](std::size_t ray, std::uint32_t pixel, Real weight) {
      const std::size_t place = next_[part][ray]++;
      pixels_[place] = pixel;
      weights_[place] = weight;
    });
  });
}

template <class Real>
double RayRows<Real>::square(std::size_t column) const {
  const RayEntries<Real> own = entries(column);
  double sum = 0;
  for (std::size_t i = 0; i < own.count; ++i) {
    sum += static_cast<double>(own.weight[i]) * static_cast<double>(own.weight[i]);
  }
  return sum;
}

template <class Real>
void RayEngine<Real>::art(const Real* sinogram, Real* slice, Executor& executor,
                          const BeforeRound& before) {
  constexpr std::size_t kSlices = kRaySlices<Real>, kApart = kShadowBins;
  constexpr double kLeast = 1e-6;  // squared: a ray that meets next to nothing says nothing
  const std::size_t n = pair_.columns();
  if (!rays_) rays_ = std::make_unique<RayRows<Real>>(n);
  RayRows<Real>& rays = *rays_;
  std::fill_n(slice, slice_.size(), Real(0));
  for (std::size_t round = 0; round < choice_.iterations; ++round) {
    for (std::size_t a = 0; a < pair_.angles(); ++a) {
      if (before) before(round);
      if (share_[a] == 0) continue;
      rays.cast(pair_, a, executor);
      for (std::size_t first = 0; first < kApart; ++first) {
        executor.run((n - std::min(n, first) + kApart - 1) / kApart, [&](std::size_t task) {
          const std::size_t ray = first + task * kApart;
          const double square = rays.square(ray);
          if (square < kLeast) return;
          const auto far = static_cast<Real>(share_[a] / square);
          Real step[kSlices];
          kernels_.sum(rays.entries(ray), slice, step);
          const Real* const want = sinogram + (a * n + ray) * kSlices;
          for (std::size_t l = 0; l < kSlices; ++l) step[l] = far * (want[l] - step[l]);
          kernels_.add(rays.entries(ray), step, slice);
        });
      }
    }
  }
}

template class RayRows<float>;
template class RayRows<double>;
template void RayEngine<float>::art(const float*, float*, Executor&, const BeforeRound&);
template void RayEngine<double>::art(const double*, double*, Executor&, const BeforeRound&);

}  // namespace tomoloom
