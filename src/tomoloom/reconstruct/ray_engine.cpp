// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/reconstruct/ray_engine.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "tomoloom/reconstruct/angles.hpp"
#include "tomoloom/reconstruct/ray_groups.hpp"
#include "tomoloom/reconstruct/ray_loops.hpp"
#include "tomoloom/reconstruct/ray_rows.hpp"

namespace tomoloom {
namespace {

/// Angles block after block.
std::vector<std::size_t> block_order(const RayChoice& choice, std::size_t angles,
                                     std::size_t blocks) {
  if (blocks > 1 && !choice.order.empty()) return choice.order;
  std::vector<std::size_t> order;
  for (std::size_t block = 0; block < blocks; ++block) {
    for (std::size_t a = block; a < angles; a += blocks) order.push_back(a);
  }
  return order;
}

/// Whether it needs a sinogram and a slice beside its own.
bool works_on_whole_slices(RayMethod method) {
  return method != RayMethod::kFbp && method != RayMethod::kArt;
}

bool needs_direction(RayMethod method) {
  switch (method) {
    case RayMethod::kFbp:
    case RayMethod::kArt:
    case RayMethod::kSirt:
    case RayMethod::kBart:
    case RayMethod::kMlem:
    case RayMethod::kOsem:
      return false;
    default:
      return true;
  }
}

bool goes_by_blocks(RayMethod method) {
  switch (method) {
    case RayMethod::kFbp:
    case RayMethod::kArt:
    case RayMethod::kCgls:
    case RayMethod::kTikh:
    case RayMethod::kGrad:
    case RayMethod::kTv:
      return false;
    default:
      return true;
  }
}

std::size_t blocks_of(const Geometry& geometry, const RayChoice& choice) {
  const std::size_t angles = geometry.theta.size();
  switch (choice.method) {
    case RayMethod::kBart:
    case RayMethod::kOsem:
    case RayMethod::kOspmlQuad:
    case RayMethod::kOspmlHybrid:
      return std::clamp<std::size_t>(choice.blocks, 1, angles);
    default:
      return 1;
  }
}

Geometry with_angles(Geometry geometry, std::span<const std::size_t> which) {
  std::vector<double> theta, weight;
  for (const std::size_t a : which) {
    theta.push_back(geometry.theta[a]);
    if (!geometry.weight.empty()) weight.push_back(geometry.weight[a]);
  }
  geometry.theta = std::move(theta);
  geometry.weight = std::move(weight);
  return geometry;
}

/// Whether what is solved has A's rows once (a likelihood, or SIRT's own weights) and not squared.
bool has_rows_once(RayMethod method) {
  switch (method) {
    case RayMethod::kSirt:
    case RayMethod::kBart:
    case RayMethod::kMlem:
    case RayMethod::kOsem:
    case RayMethod::kPmlQuad:
    case RayMethod::kPmlHybrid:
    case RayMethod::kOspmlQuad:
    case RayMethod::kOspmlHybrid:
      return true;
    default:
      return false;
  }
}

/// What rows of A, and of b, are multiplied by so that their squares, or their likelihoods, count
/// as the angles' weights say. Filtered back projection and ART have weights in other places
/// (shares_of()): their rows stay.
Geometry weighed(Geometry geometry, RayMethod method) {
  if (method == RayMethod::kFbp || method == RayMethod::kArt) geometry.weight.clear();
  if (has_rows_once(method)) return geometry;
  for (double& w : geometry.weight) w = std::sqrt(w);
  return geometry;
}

/// What each angle's lines, or steps, are multiplied by.
std::vector<double> shares_of(const Geometry& geometry, RayMethod method) {
  if (method != RayMethod::kArt) return angle_shares(geometry);
  return geometry.weight.empty() ? std::vector<double>(geometry.theta.size(), 1) : geometry.weight;
}

}  // namespace

template <class Real>
RayEngine<Real>::RayEngine(const Geometry& given, const RayChoice& choice, Isa isa)
    : RayEngine(weighed(given, choice.method), shares_of(given, choice.method), choice, isa) {}

template <class Real>
RayEngine<Real>::RayEngine(const Geometry& geometry, std::vector<double> shares,
                           const RayChoice& choice, Isa isa)
    : choice_(choice),
      order_(block_order(choice, geometry.theta.size(), blocks_of(geometry, choice))),
      pair_(with_angles(geometry, order_), isa),
      scale_(with_angles(geometry, order_).weight),
      share_(std::move(shares)),
      kernels_(ray_kernels<Real>(isa)),
      forward_(fft::good_length(2 * geometry.columns), fft::Sign::kMinus, isa),
      back_(forward_.length(), fft::Sign::kPlus, isa),
      seen_end_(pair_.stack().groups * kRaySlices<Real>),
      sinogram_(pair_.sinogram_size()),
      slice_(pair_.slice_size()) {
  if (works_on_whole_slices(choice.method)) {
    line_ = Buffer<Real>(pair_.sinogram_size());
    step_ = Buffer<Real>(pair_.slice_size());
  }
  if (needs_direction(choice.method)) {
    direction_ = Buffer<Real>(pair_.slice_size());
  }
  if (choice.method == RayMethod::kTv) {
    dual_ = Buffer<Real>(pair_.sinogram_size());
    down_ = Buffer<Real>(pair_.slice_size());
    right_ = Buffer<Real>(pair_.slice_size());
  }
  if (goes_by_blocks(choice.method)) {
    const std::size_t blocks = blocks_of(geometry, choice), angles = order_.size();
    for (std::size_t block = 0, first = 0; block < blocks; ++block) {
      const std::size_t count = (angles - block + blocks - 1) / blocks;
      parts_.emplace_back(with_angles(geometry, std::span(order_).subspan(first, count)), isa);
      first += count;
    }
  }
  if (choice.method == RayMethod::kFbp) {
    response_.emplace(choice.filter, bandlimited_ramp(forward_.length()), geometry.theta.size());
  }
}

template <class Real>
std::size_t RayEngine<Real>::group_bytes(const Geometry& geometry,
                                         const RayChoice& choice) noexcept {
  const std::size_t groups = slice_stack(geometry, kRaySlices<Real>).groups;
  const std::size_t slice = groups * geometry.columns * geometry.columns;
  const std::size_t sinogram = groups * geometry.theta.size() * geometry.columns;
  struct Counts {
    std::size_t sinograms = 2, slices = 2, scales = 0;  // scales: of one slice of the group
  } counts;
  if (!works_on_whole_slices(choice.method)) counts = {.sinograms = 1, .slices = 1};
  if (needs_direction(choice.method)) ++counts.slices;
  if (goes_by_blocks(choice.method)) {
    counts.scales = (blocks_of(geometry, choice) + 1) * slice + sinogram;
  }
  if (choice.method == RayMethod::kTv) counts = {3, 5, slice + sinogram};
  return ((counts.slices * slice + counts.sinograms * sinogram) * kRaySlices<Real> +
          counts.scales) *
             sizeof(Real) +
         (counts.slices + counts.sinograms) * Buffer<Real>::kHugePage +
         (choice.method == RayMethod::kArt ? RayRows<Real>::bytes(geometry.columns) : 0);
}

/// Shadows of a row of pixels, with what a tilted axis adds, or what both transforms of a line work
/// in.
template <class Real>
std::size_t RayEngine<Real>::thread_bytes(const Geometry& geometry) noexcept {
  const std::size_t transforms = 4 * fft::good_length(2 * geometry.columns) * kRaySlices<Real>;
  return transforms * sizeof(Real) + RayPair<Real>::thread_bytes(geometry) +
         3 * Buffer<Real>::kHugePage;
}

/// A filter that is real and even keeps slices apart that share a transform as real and imaginary
/// part.
template <class Real>
void RayEngine<Real>::filter(Real* sinogram, Executor& executor) const {
  constexpr std::size_t kSlices = kRaySlices<Real>;
  const std::size_t columns = pair_.columns(), n = forward_.length();
  executor.run(pair_.angles(), [&](std::size_t a) {
    std::vector<Real> work(forward_.work_size()), more(back_.work_size());
    Real* const line = sinogram + a * columns * kSlices;
    Real* const spectrum = forward_.run(line, 1, columns, work.data());
    for (std::size_t j = 0; j < n; ++j) {
      const std::size_t k = std::min(j, n - j);  // nothing is left of the highest frequency
      const double size = 2 * k == n ? 0 : response_->at(a, k) / static_cast<double>(n);
      const auto w = static_cast<Real>(share_[a] * size);
      for (std::size_t l = 0; l < kSlices; ++l) spectrum[j * kSlices + l] *= w;
    }
    std::copy_n(back_.run(spectrum, 1, n, more.data()), columns * kSlices, line);
  });
}

template <class Real>
void RayEngine<Real>::find_sums(Executor& executor) {
  if (!row_scale_.empty()) return;
  std::fill_n(step_.data(), step_.size(), Real(1));
  pair_.project(step_.data(), line_.data(), executor);
  row_scale_ = rays::inverse_sums(line_.data(), line_.size() / kRaySlices<Real>);
  std::fill_n(line_.data(), line_.size(), Real(1));
  pair_.back_project(line_.data(), step_.data(), executor);
  column_scale_ = rays::inverse_sums(step_.data(), step_.size() / kRaySlices<Real>);
}

template <class Real>
void RayEngine<Real>::see(const RayPair<Real>& pair, const Real* slice, Real* line,
                          Executor& executor) const {
  pair.project(slice, line, executor);
  constexpr std::size_t kSlices = kRaySlices<Real>;
  const std::size_t all = pair.stack().groups * kSlices, row = pair.columns() * kSlices;
  if (seen_begin_ == 0 && seen_end_ == all) return;
  executor.run(pair.angles(), [&](std::size_t a) {
    for (std::size_t place = 0; place < all; ++place) {
      if (place >= seen_begin_ && place < seen_end_) continue;
      Real* const first = line + a * pair.line_size() + place / kSlices * row + place % kSlices;
      for (std::size_t x = 0; x < row; x += kSlices) first[x] = 0;
    }
  });
}

template <class Real>
void RayEngine<Real>::solve(Real* sinogram, Real* slice, Executor& executor,
                            const BeforeRound& before) {
  const std::size_t line = pair_.line_size();
  for (std::size_t a = 0; a < scale_.size(); ++a) {
    for (std::size_t i = a * line; i < (a + 1) * line; ++i) {
      sinogram[i] *= static_cast<Real>(scale_[a]);
    }
  }
  switch (choice_.method) {
    case RayMethod::kFbp:
      filter(sinogram, executor);
      return pair_.back_project(sinogram, slice, executor);
    case RayMethod::kArt:
      return art(sinogram, slice, executor, before);
    case RayMethod::kSirt:
    case RayMethod::kBart:
      return sirt(sinogram, slice, executor, before);
    case RayMethod::kCgls:
    case RayMethod::kTikh:
      return cgls(sinogram, slice, executor, before);
    case RayMethod::kGrad:
      return gradient(sinogram, slice, executor, before);
    case RayMethod::kTv:
      return total_variation(sinogram, slice, executor, before);
    case RayMethod::kMlem:
    case RayMethod::kOsem:
    case RayMethod::kPmlQuad:
    case RayMethod::kPmlHybrid:
    case RayMethod::kOspmlQuad:
    case RayMethod::kOspmlHybrid:
      return likelihood(sinogram, slice, executor, before);
  }
}

template <class Real>
void RayEngine<Real>::reconstruct(const StackView& projections, const VolumeView& slices,
                                  Executor& executor, const BeforeRound& before) {
  const std::size_t columns = pair_.columns();
  const SliceStack& stack = pair_.stack();
  if (stack.beside == 0) {
    rays::gather(projections, order_, columns, sinogram_.data(), executor);
  } else {
    seen_begin_ = stack.first() - stack.beside;
    seen_end_ = stack.first() + projections.slices + stack.beside;
    rays::gather_stack(projections,
                       {.first = stack.first(), .beside = stack.beside, .groups = stack.groups},
                       order_, columns, sinogram_.data(), executor);
  }
  solve(sinogram_.data(), slice_.data(), executor, before);
  rays::scatter(slice_.data(), stack.first(), projections.slices, columns, slices, executor);
}

template class RayEngine<float>;
template class RayEngine<double>;

}  // namespace tomoloom
