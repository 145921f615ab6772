// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/reconstruct/convolved_engine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tomoloom/reconstruct/ray_groups.hpp"
#include "tomoloom/reconstruct/ray_loops.hpp"

namespace tomoloom {
namespace {

template <class Real>
using Factors = std::array<Real, kRaySlices<Real>>;

template <class Real>
Factors<Real> all(double value) {
  Factors<Real> factors;
  factors.fill(static_cast<Real>(value));
  return factors;
}

}  // namespace

bool takes_convolution(RayMethod method) noexcept {
  return method == RayMethod::kSirt || method == RayMethod::kCgls || method == RayMethod::kTikh ||
         method == RayMethod::kGrad || method == RayMethod::kTv;
}

template <class Real>
ConvolvedSolver<Real>::ConvolvedSolver(const Geometry& geometry, const RayChoice& choice, Isa isa)
    : choice_(choice),
      rays_(geometry.columns * geometry.theta.size()),
      convolution_(geometry, isa),
      step_(geometry.columns * geometry.columns * kRaySlices<Real>),
      direction_(step_.size()) {
  if (choice.method != RayMethod::kTv) return;
  down_ = Buffer<Real>(step_.size());
  right_ = Buffer<Real>(step_.size());
  next_ = Buffer<Real>(step_.size());
}

template <class Real>
std::size_t ConvolvedSolver<Real>::bytes(std::size_t columns, RayMethod method) noexcept {
  const std::size_t slices = method == RayMethod::kTv ? 5 : 2;
  return slices * (columns * columns * kRaySlices<Real> * sizeof(Real) + Buffer<Real>::kHugePage) +
         ShadowConvolution<Real>::bytes(columns) + Buffer<Real>::kHugePage;
}

template <class Real>
void ConvolvedSolver<Real>::solve(Real* seen, Real* slice, Executor& executor,
                                  const BeforeRound& before) {
  std::fill_n(slice, slice_size(), Real(0));
  switch (choice_.method) {
    case RayMethod::kSirt:
      return descend(seen, slice, executor, before);
    case RayMethod::kGrad:
      return find_steps(seen, slice, executor, before);
    case RayMethod::kTv:
      return total_variation(seen, slice, executor, before);
    default:
      return conjugate(seen, slice, executor, before);
  }
}

/// By one step for all: the whole of what is the most for which no part of the error grows would be
/// 2, here nothing is left of it in the middle of the spectrum.
template <class Real>
void ConvolvedSolver<Real>::descend(const Real* seen, Real* slice, Executor& executor,
                                    const BeforeRound& before) {
  constexpr double kFar = 1.9;
  const auto one = all<Real>(1), far = all<Real>(kFar / convolution_.bound()),
             back = all<Real>(-kFar / convolution_.bound());
  for (std::size_t round = 0; round < choice_.iterations; ++round) {
    if (before) before(round);
    convolution_.apply(slice, step_.data(), executor);
    rays::combine(one, slice, back, step_.data(), slice_size(), executor);
    rays::combine(one, slice, far, seen, slice_size(), executor);
  }
}

/// Of kTikh the damped system.
template <class Real>
void ConvolvedSolver<Real>::conjugate(Real* seen, Real* slice, Executor& executor,
                                      const BeforeRound& before) {
  const std::size_t size = slice_size();
  const auto one = all<Real>(1);
  const bool damped = choice_.method == RayMethod::kTikh && choice_.weight > 0;
  Factors<Real> along, against, keep;
  std::copy_n(seen, size, direction_.data());
  rays::Sums<Real> gradient = rays::squares(seen, size, executor);
  for (std::size_t round = 0; round < choice_.iterations; ++round) {
    if (before) before(round);
    convolution_.apply(direction_.data(), step_.data(), executor);
    if (damped) {
      rays::combine(one, step_.data(), all<Real>(choice_.weight), direction_.data(), size,
                    executor);
    }
    const rays::Sums<Real> curvature =
        rays::products(direction_.data(), step_.data(), size, executor);
    for (std::size_t l = 0; l < one.size(); ++l) {
      along[l] = static_cast<Real>(curvature[l] > 0 ? gradient[l] / curvature[l] : 0);
      against[l] = -along[l];
    }
    rays::combine(one, slice, along, direction_.data(), size, executor);
    rays::combine(one, seen, against, step_.data(), size, executor);
    const rays::Sums<Real> next = rays::squares(seen, size, executor);
    for (std::size_t l = 0; l < one.size(); ++l) {
      keep[l] = static_cast<Real>(gradient[l] > 0 ? next[l] / gradient[l] : 0);
    }
    gradient = next;
    rays::combine(keep, direction_.data(), one, seen, size, executor);
  }
}

/// RayEngine's gradient(), with the same lengths.
template <class Real>
void ConvolvedSolver<Real>::find_steps(const Real* seen, Real* slice, Executor& executor,
                                       const BeforeRound& before) {
  const auto one = all<Real>(1), minus = all<Real>(-1);
  rays::StepLengths<Real> lengths(choice_.weight, rays_);
  for (std::size_t round = 0; round < choice_.iterations; ++round) {
    if (before) before(round);
    convolution_.apply(slice, step_.data(), executor);
    rays::combine(one, step_.data(), minus, seen, slice_size(), executor);
    if (round > 0) lengths.adapt(direction_.data(), step_.data(), slice_size(), executor);
    rays::combine(one, slice, lengths.factors(), step_.data(), slice_size(), executor);
    std::swap(direction_, step_);
  }
}

/// FISTA (Beck & Teboulle 2009): steps down the gradient from a point that momentum looks ahead to,
/// which begins anew where it leads back (O'Donoghue & Candes 2015); what total variation asks for
/// at each is found in its dual, from that of the step before.
template <class Real>
void ConvolvedSolver<Real>::total_variation(const Real* seen, Real* slice, Executor& executor,
                                            const BeforeRound& before) {
  constexpr std::size_t kSlices = kRaySlices<Real>;
  constexpr int kDualSteps = 4;
  constexpr Real kDualStep = Real(0.125);  // one over the most that squares of differences have
  const std::size_t n = convolution_.columns(), size = slice_size();
  const auto step = static_cast<Real>(1 / convolution_.bound());
  const auto weight = static_cast<Real>(choice_.weight) * step;
  rays::Sums<Real> momentum;
  momentum.fill(1);
  for (Buffer<Real>* const each : {&down_, &right_, &direction_}) {
    std::fill_n(each->data(), size, Real(0));
  }
  for (std::size_t round = 0; round < choice_.iterations; ++round) {
    if (before) before(round);
    convolution_.apply(direction_.data(), step_.data(), executor);  // direction_: looked from
    rays::each_part(size / kSlices, executor, [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin * kSlices; i < end * kSlices; ++i) {
        next_[i] = step_[i] = direction_[i] - step * (step_[i] - seen[i]);
      }
    });
    for (int inner = 0; weight > 0 && inner <= kDualSteps; ++inner) {
      rays::each_difference(
          n, down_.data(), right_.data(), executor,
          [&](std::size_t i, Real down, Real right) { next_[i] = step_[i] + down + right; });
      if (inner == kDualSteps) break;
      rays::shrink_differences(next_.data(), n, kDualStep, weight, down_.data(), right_.data(),
                               executor);
    }
    // ahead: where the point looked from lies beyond the new one as seen from the old
    const rays::Sums<Real> from_new =
        rays::products(direction_.data(), next_.data(), size, executor);
    const rays::Sums<Real> from_old = rays::products(direction_.data(), slice, size, executor);
    const rays::Sums<Real> new_new = rays::squares(next_.data(), size, executor);
    const rays::Sums<Real> new_old = rays::products(next_.data(), slice, size, executor);
    Factors<Real> ahead;
    for (std::size_t l = 0; l < kSlices; ++l) {
      if (from_new[l] - from_old[l] - new_new[l] + new_old[l] > 0) momentum[l] = 1;
      const double next = (1 + std::sqrt(1 + 4 * momentum[l] * momentum[l])) / 2;
      ahead[l] = static_cast<Real>((momentum[l] - 1) / next);
      momentum[l] = next;
    }
    rays::each_part(size / kSlices, executor, [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin * kSlices; i < end * kSlices; i += kSlices) {
        for (std::size_t l = 0; l < kSlices; ++l) {
          direction_[i + l] = next_[i + l] + ahead[l] * (next_[i + l] - slice[i + l]);
          slice[i + l] = next_[i + l];
        }
      }
    });
  }
}

template class ConvolvedSolver<float>;
template class ConvolvedSolver<double>;

ConvolvedEngine::ConvolvedEngine(const GridPlan& seen, const Geometry& geometry,
                                 const RayChoice& choice, Isa isa)
    : columns_(geometry.columns),
      seen_by_(seen, isa),
      solver_(geometry, choice, isa),
      seen_(solver_.slice_size()),
      slice_(solver_.slice_size()) {}

std::size_t ConvolvedEngine::group_bytes(const GridPlan& seen, RayMethod method) noexcept {
  const std::size_t slice = seen.image * seen.image * kRaySlices<float> * sizeof(float);
  return 2 * (slice + Buffer<float>::kHugePage) + seen.table_bytes() + seen.group_bytes() +
         ConvolvedSolver<float>::bytes(seen.image, method);
}

std::size_t ConvolvedEngine::thread_bytes(const GridPlan& seen, const Geometry& geometry) noexcept {
  return RayEngine<float>::thread_bytes(geometry) + DirectEngine::thread_bytes(seen);
}

void ConvolvedEngine::reconstruct(const StackView& projections, const VolumeView& slices,
                                  Executor& executor, const RayEngine<float>::BeforeRound& before) {
  const std::size_t n = columns_;
  seen_by_.reconstruct(projections, slices, executor);
  executor.run(n, [&](std::size_t row) {
    rays::gather_line({.data = slices.data + row * slices.row_stride,
                       .slices = projections.slices,
                       .slice_stride = slices.slice_stride},
                      n, seen_.data() + row * n * kRaySlices<float>);
  });
  solver_.solve(seen_.data(), slice_.data(), executor, before);
  rays::scatter(slice_.data(), 0, projections.slices, n, slices, executor);
}

}  // namespace tomoloom
