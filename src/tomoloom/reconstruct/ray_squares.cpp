// SPDX-License-Identifier: BSD-3-Clause
// Methods for the least sum of squares: SIRT, alone and by blocks, conjugate gradients, gradient
// descent.
#include <array>
#include <utility>

#include "tomoloom/reconstruct/ray_engine.hpp"
#include "tomoloom/reconstruct/ray_loops.hpp"

namespace tomoloom {

using rays::each_part;

namespace {

/// Rays that cross slices make one system of all of them.
template <class Real>
rays::Slices together(const RayPair<Real>& pair) {
  return pair.stack().beside > 0 ? rays::Slices::kTogether : rays::Slices::kApart;
}

}  // namespace

template <class Real>
void RayEngine<Real>::sirt(const Real* sinogram, Real* slice, Executor& executor,
                           const BeforeRound& before) {
  constexpr std::size_t kSlices = kRaySlices<Real>;
  find_sums(executor);
  const std::vector<std::vector<Real>> scales = block_scales(executor);
  std::fill_n(slice, slice_.size(), Real(0));
  for (std::size_t round = 0; round < choice_.iterations; ++round) {
    std::size_t first = 0;  // ray of the block
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      if (before) before(round);
      const std::size_t count = parts_[k].sinogram_size() / kSlices;
      see(parts_[k], slice, line_.data(), executor);
      each_part(count, executor, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          const Real* const rays = sinogram + (first + i) * kSlices;
          for (std::size_t l = 0; l < kSlices; ++l) {
            Real& line = line_[i * kSlices + l];
            line = row_scale_[first + i] * (rays[l] - line);
          }
        }
      });
      parts_[k].back_project(line_.data(), step_.data(), executor);
      const std::vector<Real>& scale = scales[k];
      each_part(scale.size(), executor, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          for (std::size_t at = i * kSlices; at < (i + 1) * kSlices; ++at) {
            slice[at] += scale[i] * step_[at];
          }
        }
      });
      first += count;
    }
  }
}

/// Of kTikh the damped system: what is minimised is |A x - b|^2 + weight |x|^2.
template <class Real>
void RayEngine<Real>::cgls(Real* sinogram, Real* slice, Executor& executor,
                           const BeforeRound& before) {
  using Factors = std::array<Real, kRaySlices<Real>>;
  const rays::Slices slices = together(pair_);
  Factors one, along, against, keep, damp;
  one.fill(1);
  const bool damped = choice_.method == RayMethod::kTikh && choice_.weight > 0;
  damp.fill(damped ? static_cast<Real>(-choice_.weight) : Real(0));
  std::fill_n(slice, slice_.size(), Real(0));
  pair_.back_project(sinogram, direction_.data(), executor);
  rays::Sums<Real> gradient = rays::squares(direction_.data(), direction_.size(), executor, slices);
  for (std::size_t round = 0; round < choice_.iterations; ++round) {
    if (before) before(round);
    see(pair_, direction_.data(), line_.data(), executor);
    rays::Sums<Real> curvature = rays::squares(line_.data(), line_.size(), executor, slices);
    if (damped) {
      const rays::Sums<Real> own =
          rays::squares(direction_.data(), direction_.size(), executor, slices);
      for (std::size_t l = 0; l < one.size(); ++l) curvature[l] += choice_.weight * own[l];
    }
    for (std::size_t l = 0; l < one.size(); ++l) {
      along[l] = static_cast<Real>(curvature[l] > 0 ? gradient[l] / curvature[l] : 0);
      against[l] = -along[l];
    }
    rays::combine(one, slice, along, direction_.data(), slice_.size(), executor);
    rays::combine(one, sinogram, against, line_.data(), line_.size(), executor);
    pair_.back_project(sinogram, step_.data(), executor);
    if (damped) rays::combine(one, step_.data(), damp, slice, slice_.size(), executor);
    const rays::Sums<Real> next = rays::squares(step_.data(), step_.size(), executor, slices);
    for (std::size_t l = 0; l < one.size(); ++l) {
      keep[l] = static_cast<Real>(gradient[l] > 0 ? next[l] / gradient[l] : 0);
    }
    gradient = next;
    rays::combine(keep, direction_.data(), one, step_.data(), step_.size(), executor);
  }
}

/// Steps down the gradient.
template <class Real>
void RayEngine<Real>::gradient(const Real* sinogram, Real* slice, Executor& executor,
                               const BeforeRound& before) {
  std::array<Real, kRaySlices<Real>> one, minus;
  one.fill(1);
  minus.fill(-1);
  rays::StepLengths<Real> lengths(choice_.weight, pair_.columns() * pair_.angles(),
                                  together(pair_));
  std::fill_n(slice, slice_.size(), Real(0));
  for (std::size_t round = 0; round < choice_.iterations; ++round) {
    if (before) before(round);
    see(pair_, slice, line_.data(), executor);
    rays::combine(one, line_.data(), minus, sinogram, line_.size(), executor);
    pair_.back_project(line_.data(), step_.data(), executor);  // half the gradient
    if (round > 0) lengths.adapt(direction_.data(), step_.data(), slice_.size(), executor);
    rays::combine(one, slice, lengths.factors(), step_.data(), slice_.size(), executor);
    std::swap(direction_, step_);  // direction_: the last one
  }
}

template void RayEngine<float>::sirt(const float*, float*, Executor&, const BeforeRound&);
template void RayEngine<double>::sirt(const double*, double*, Executor&, const BeforeRound&);
template void RayEngine<float>::cgls(float*, float*, Executor&, const BeforeRound&);
template void RayEngine<double>::cgls(double*, double*, Executor&, const BeforeRound&);
template void RayEngine<float>::gradient(const float*, float*, Executor&, const BeforeRound&);
template void RayEngine<double>::gradient(const double*, double*, Executor&, const BeforeRound&);

}  // namespace tomoloom
