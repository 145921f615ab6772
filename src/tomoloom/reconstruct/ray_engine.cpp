// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/reconstruct/ray_engine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "tomoloom/reconstruct/angles.hpp"

namespace tomoloom {
namespace {

/// Elements that a task goes through: sums over all of them are those of the tasks, in their order.
constexpr std::size_t kElementsPerTask = 8192;

/// What a piece of memory may be rounded up to.
constexpr std::size_t kHugePage = std::size_t{2} << 20;

template <class Real>
using Sums = std::array<double, kRaySlices<Real>>;

template <class Use>
void each_part(std::size_t elements, Executor& executor, const Use& use) {
  const std::size_t tasks = (elements + kElementsPerTask - 1) / kElementsPerTask;
  executor.run(tasks, [&](std::size_t task) {
    const std::size_t begin = task * kElementsPerTask;
    use(task, begin, std::min(elements, begin + kElementsPerTask));
  });
}

/// The sum of squares of each slice.
template <class Real>
Sums<Real> squares(const Real* data, std::size_t size, Executor& executor) {
  constexpr std::size_t kSlices = kRaySlices<Real>;
  const std::size_t elements = size / kSlices;
  std::vector<Sums<Real>> parts((elements + kElementsPerTask - 1) / kElementsPerTask);
  each_part(elements, executor, [&](std::size_t task, std::size_t begin, std::size_t end) {
    Sums<Real> sum{};
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t l = 0; l < kSlices; ++l) {
        const auto value = static_cast<double>(data[i * kSlices + l]);
        sum[l] += value * value;
      }
    }
    parts[task] = sum;
  });
  Sums<Real> all{};
  for (const Sums<Real>& part : parts) {
    for (std::size_t l = 0; l < kSlices; ++l) all[l] += part[l];
  }
  return all;
}

/// to = keep to + add from, each slice with its own factors.
template <class Real>
void combine(const std::array<Real, kRaySlices<Real>>& keep, Real* to,
             const std::array<Real, kRaySlices<Real>>& add, const Real* from, std::size_t size,
             Executor& executor) {
  constexpr std::size_t kSlices = kRaySlices<Real>;
  each_part(size / kSlices, executor, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin * kSlices; i < end * kSlices; i += kSlices) {
      for (std::size_t l = 0; l < kSlices; ++l) {
        to[i + l] = keep[l] * to[i + l] + add[l] * from[i + l];
      }
    }
  });
}

/// Angles block after block.
std::vector<std::size_t> block_order(std::size_t angles, std::size_t blocks) {
  std::vector<std::size_t> order;
  for (std::size_t block = 0; block < blocks; ++block) {
    for (std::size_t a = block; a < angles; a += blocks) order.push_back(a);
  }
  return order;
}

std::size_t blocks_of(const Geometry& geometry, const RayChoice& choice) {
  return choice.method == RayMethod::kOsem
             ? std::clamp<std::size_t>(choice.blocks, 1, geometry.theta.size())
             : 1;
}

Geometry with_angles(Geometry geometry, std::span<const std::size_t> which) {
  std::vector<double> theta;
  for (const std::size_t a : which) theta.push_back(geometry.theta[a]);
  geometry.theta = std::move(theta);
  return geometry;
}

/// One over the sums of a matrix's lines; 0 where there is next to nothing.
template <class Real>
std::vector<Real> inverse_sums(const Real* sums, std::size_t elements) {
  std::vector<Real> out(elements);
  for (std::size_t i = 0; i < elements; ++i) {
    const Real sum = sums[i * kRaySlices<Real>];
    out[i] = sum > Real(1e-6) ? 1 / sum : 0;
  }
  return out;
}

}  // namespace

template <class Real>
RayEngine<Real>::RayEngine(const Geometry& geometry, const RayChoice& choice, Isa isa)
    : choice_(choice),
      order_(block_order(geometry.theta.size(), blocks_of(geometry, choice))),
      pair_(with_angles(geometry, order_), isa),
      share_(angle_weights(geometry.theta)),
      forward_(fft::good_length(2 * geometry.columns), fft::Sign::kMinus, isa),
      back_(forward_.length(), fft::Sign::kPlus, isa),
      sinogram_(pair_.sinogram_size()),
      slice_(pair_.slice_size()) {
  if (choice.method != RayMethod::kFbp) line_ = Buffer<Real>(pair_.sinogram_size());
  if (choice.method != RayMethod::kFbp) step_ = Buffer<Real>(pair_.slice_size());
  if (choice.method == RayMethod::kCgls || choice.method == RayMethod::kTv) {
    direction_ = Buffer<Real>(pair_.slice_size());
  }
  if (choice.method == RayMethod::kTv) {
    dual_ = Buffer<Real>(pair_.sinogram_size());
    down_ = Buffer<Real>(pair_.slice_size());
    right_ = Buffer<Real>(pair_.slice_size());
  }
  if (choice.method == RayMethod::kMlem || choice.method == RayMethod::kOsem) {
    const std::size_t blocks = blocks_of(geometry, choice), angles = order_.size();
    for (std::size_t block = 0, first = 0; block < blocks; ++block) {
      const std::size_t count = (angles - block + blocks - 1) / blocks;
      parts_.emplace_back(with_angles(geometry, std::span(order_).subspan(first, count)), isa);
      first += count;
    }
  }
  const std::size_t n = forward_.length();
  const std::vector<double> ramp = bandlimited_ramp(n);
  for (std::size_t j = 0; j < n / 2; ++j) {
    const double x = static_cast<double>(j) / static_cast<double>(n);
    response_.push_back((choice.filter.filter == Filter::kNone ? 1 : ramp[j]) *
                        filter_window(choice.filter, x) / static_cast<double>(n));
  }
  response_.push_back(0);  // the highest frequency
}

template <class Real>
std::size_t RayEngine<Real>::group_bytes(const Geometry& geometry,
                                         const RayChoice& choice) noexcept {
  const std::size_t slice = geometry.columns * geometry.columns;
  const std::size_t sinogram = geometry.theta.size() * geometry.columns;
  struct Counts {
    std::size_t sinograms, slices, scales;  // scales: of one slice of the group
  } counts{1, 1, 0};
  switch (choice.method) {
    case RayMethod::kFbp:
      break;
    case RayMethod::kSirt:
      counts = {2, 2, slice + sinogram};
      break;
    case RayMethod::kCgls:
      counts = {2, 3, 0};
      break;
    case RayMethod::kMlem:
    case RayMethod::kOsem:
      counts = {2, 2, (blocks_of(geometry, choice) + 1) * slice};
      break;
    case RayMethod::kTv:
      counts = {3, 5, slice + sinogram};
      break;
  }
  return ((counts.slices * slice + counts.sinograms * sinogram) * kRaySlices<Real> +
          counts.scales) *
             sizeof(Real) +
         (counts.slices + counts.sinograms) * kHugePage;
}

/// Shadows of a row of pixels, or what both transforms of a line work in.
template <class Real>
std::size_t RayEngine<Real>::thread_bytes(const Geometry& geometry) noexcept {
  const std::size_t transforms = 4 * fft::good_length(2 * geometry.columns) * kRaySlices<Real>;
  return transforms * sizeof(Real) + 3 * kHugePage;
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
      const auto w = static_cast<Real>(share_[a] * response_[std::min(j, n - j)]);
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
  row_scale_ = inverse_sums(line_.data(), line_.size() / kRaySlices<Real>);
  std::fill_n(line_.data(), line_.size(), Real(1));
  pair_.back_project(line_.data(), step_.data(), executor);
  column_scale_ = inverse_sums(step_.data(), step_.size() / kRaySlices<Real>);
}

template <class Real>
void RayEngine<Real>::sirt(const Real* sinogram, Real* slice, Executor& executor,
                           const BeforeRound& before) {
  constexpr std::size_t kSlices = kRaySlices<Real>;
  find_sums(executor);
  std::fill_n(slice, slice_.size(), Real(0));
  for (std::size_t round = 0; round < choice_.iterations; ++round) {
    if (before) before(round);
    pair_.project(slice, line_.data(), executor);
    each_part(row_scale_.size(), executor, [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        for (std::size_t at = i * kSlices; at < (i + 1) * kSlices; ++at) {
          line_[at] = row_scale_[i] * (sinogram[at] - line_[at]);
        }
      }
    });
    pair_.back_project(line_.data(), step_.data(), executor);
    each_part(column_scale_.size(), executor, [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        for (std::size_t at = i * kSlices; at < (i + 1) * kSlices; ++at) {
          slice[at] += column_scale_[i] * step_[at];
        }
      }
    });
  }
}

template <class Real>
void RayEngine<Real>::cgls(Real* sinogram, Real* slice, Executor& executor,
                           const BeforeRound& before) {
  using Factors = std::array<Real, kRaySlices<Real>>;
  Factors one, along, against, keep;
  one.fill(1);
  std::fill_n(slice, slice_.size(), Real(0));
  pair_.back_project(sinogram, direction_.data(), executor);
  Sums<Real> gradient = squares(direction_.data(), direction_.size(), executor);
  for (std::size_t round = 0; round < choice_.iterations; ++round) {
    if (before) before(round);
    pair_.project(direction_.data(), line_.data(), executor);
    const Sums<Real> curvature = squares(line_.data(), line_.size(), executor);
    for (std::size_t l = 0; l < one.size(); ++l) {
      along[l] = static_cast<Real>(curvature[l] > 0 ? gradient[l] / curvature[l] : 0);
      against[l] = -along[l];
    }
    combine(one, slice, along, direction_.data(), slice_.size(), executor);
    combine(one, sinogram, against, line_.data(), line_.size(), executor);
    pair_.back_project(sinogram, step_.data(), executor);
    const Sums<Real> next = squares(step_.data(), step_.size(), executor);
    for (std::size_t l = 0; l < one.size(); ++l) {
      keep[l] = static_cast<Real>(gradient[l] > 0 ? next[l] / gradient[l] : 0);
    }
    gradient = next;
    combine(keep, direction_.data(), one, step_.data(), step_.size(), executor);
  }
}

template <class Real>
void RayEngine<Real>::likelihood(const Real* sinogram, Real* slice, Executor& executor,
                                 const BeforeRound& before) {
  constexpr std::size_t kSlices = kRaySlices<Real>;
  constexpr Real kMostRatio = 1e6;  // where a ray sees next to nothing of what it should
  std::vector<std::vector<Real>> scales;
  std::vector<Real> seen(slice_.size() / kSlices, 0);
  for (const RayPair<Real>& part : parts_) {
    std::fill_n(line_.data(), part.sinogram_size(), Real(1));
    part.back_project(line_.data(), step_.data(), executor);
    scales.push_back(inverse_sums(step_.data(), seen.size()));
    for (std::size_t i = 0; i < seen.size(); ++i) seen[i] += scales.back()[i];
  }
  for (std::size_t i = 0; i < slice_.size(); ++i) slice[i] = seen[i / kSlices] > 0 ? 1 : 0;
  for (std::size_t round = 0; round < choice_.iterations; ++round) {
    const Real* rays = sinogram;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      if (before) before(round);
      const std::size_t size = parts_[k].sinogram_size();
      parts_[k].project(slice, line_.data(), executor);
      each_part(size / kSlices, executor, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin * kSlices; i < end * kSlices; ++i) {
          const Real want = std::max(rays[i], Real(0));
          const Real got = std::max(line_[i], want / kMostRatio);
          line_[i] = got > 0 ? want / got : 0;
        }
      });
      parts_[k].back_project(line_.data(), step_.data(), executor);
      const std::vector<Real>& scale = scales[k];
      each_part(scale.size(), executor, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          if (scale[i] == 0) continue;  // this block does not see the pixel
          for (std::size_t at = i * kSlices; at < (i + 1) * kSlices; ++at) {
            slice[at] *= scale[i] * step_[at];
          }
        }
      });
      rays += size;
    }
  }
}

/// Chambolle & Pock 2011 with a step for each unknown of either side (Pock & Chambolle 2011): one
/// over the sums of the lines of A and of the differences together.
template <class Real>
void RayEngine<Real>::total_variation(const Real* sinogram, Real* slice, Executor& executor,
                                      const BeforeRound& before) {
  constexpr std::size_t kSlices = kRaySlices<Real>;
  constexpr Real kDifferences = 4;  // that a pixel takes part in
  const std::size_t n = pair_.columns(), row = n * kSlices;
  const auto weight = static_cast<Real>(choice_.weight);
  // steps of the rays against those of pixels: with 1 the rays, whose sums grow with the row, are
  // slow
  const Real balance = static_cast<Real>(n) / 8;
  find_sums(executor);
  for (Buffer<Real>* const each : {&dual_, &down_, &right_, &direction_}) {
    std::fill_n(each->data(), each->size(), Real(0));
  }
  std::fill_n(slice, slice_.size(), Real(0));
  for (std::size_t round = 0; round < choice_.iterations; ++round) {
    if (before) before(round);
    pair_.project(direction_.data(), line_.data(), executor);  // direction_: the point looked from
    each_part(row_scale_.size(), executor, [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const Real step = balance * row_scale_[i];
        for (std::size_t at = i * kSlices; at < (i + 1) * kSlices; ++at) {
          dual_[at] = (dual_[at] + step * (line_[at] - sinogram[at])) / (1 + step);
        }
      }
    });
    executor.run(n, [&](std::size_t r) {
      for (std::size_t i = r * row; i < (r + 1) * row; ++i) {
        const bool last_column = i + kSlices >= (r + 1) * row;
        const Real below = r + 1 < n ? direction_[i + row] - direction_[i] : 0;
        const Real beside = last_column ? 0 : direction_[i + kSlices] - direction_[i];
        const Real down = down_[i] + balance / 2 * below;
        const Real right = right_[i] + balance / 2 * beside;
        const Real size = std::sqrt(down * down + right * right);
        const Real share = size > weight ? weight / size : 1;
        down_[i] = share * down;
        right_[i] = share * right;
      }
    });
    pair_.back_project(dual_.data(), step_.data(), executor);
    executor.run(n, [&](std::size_t r) {
      for (std::size_t i = r * row; i < (r + 1) * row; ++i) {
        const Real above = r > 0 ? down_[i - row] : 0;
        const Real left = i >= r * row + kSlices ? right_[i - kSlices] : 0;
        const Real scale = column_scale_[i / kSlices];
        const Real step = scale / (1 + kDifferences * scale) / balance;
        const Real next = slice[i] - step * (step_[i] - (down_[i] - above) - (right_[i] - left));
        direction_[i] = 2 * next - slice[i];
        slice[i] = next;
      }
    });
  }
}

template <class Real>
void RayEngine<Real>::solve(Real* sinogram, Real* slice, Executor& executor,
                            const BeforeRound& before) {
  if (choice_.method == RayMethod::kSirt) return sirt(sinogram, slice, executor, before);
  if (choice_.method == RayMethod::kCgls) return cgls(sinogram, slice, executor, before);
  if (choice_.method == RayMethod::kTv) return total_variation(sinogram, slice, executor, before);
  if (!parts_.empty()) return likelihood(sinogram, slice, executor, before);
  filter(sinogram, executor);
  pair_.back_project(sinogram, slice, executor);
}

template <class Real>
void RayEngine<Real>::reconstruct(const StackView& projections, const VolumeView& slices,
                                  Executor& executor, const BeforeRound& before) {
  constexpr std::size_t kSlices = kRaySlices<Real>;
  const std::size_t columns = pair_.columns();
  executor.run(pair_.angles(), [&](std::size_t a) {
    Real* const line = sinogram_.data() + a * columns * kSlices;
    std::fill_n(line, columns * kSlices, Real(0));
    for (std::size_t l = 0; l < projections.slices; ++l) {
      const float* const from =
          projections.data + order_[a] * projections.angle_stride + l * projections.slice_stride;
      for (std::size_t x = 0; x < columns; ++x) line[x * kSlices + l] = static_cast<Real>(from[x]);
    }
  });
  solve(sinogram_.data(), slice_.data(), executor, before);
  executor.run(columns, [&](std::size_t row) {
    const Real* const line = slice_.data() + row * columns * kSlices;
    for (std::size_t l = 0; l < projections.slices; ++l) {
      float* const to = slices.data + l * slices.slice_stride + row * slices.row_stride;
      for (std::size_t x = 0; x < columns; ++x) to[x] = static_cast<float>(line[x * kSlices + l]);
    }
  });
}

template class RayEngine<float>;
template class RayEngine<double>;

}  // namespace tomoloom
