// SPDX-License-Identifier: BSD-3-Clause
// Loops over elements of a group of slices, for the files of RayEngine alone.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "loom/base/executor.hpp"
#include "tomoloom/reconstruct/ray_kernels.hpp"

namespace tomoloom::rays {

/// Elements that a task goes through: sums over all of them are those of the tasks, in their order.
inline constexpr std::size_t kElementsPerTask = 8192;

/// Whether the slices of a group are solved each by itself, or as one: where rays cross them.
enum class Slices { kApart, kTogether };

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

/// The sum of products of each slice, or of all of them.
template <class Real>
Sums<Real> products(const Real* first, const Real* second, std::size_t size, Executor& executor,
                    Slices slices = Slices::kApart) {
  constexpr std::size_t kSlices = kRaySlices<Real>;
  const std::size_t elements = size / kSlices;
  std::vector<Sums<Real>> parts((elements + kElementsPerTask - 1) / kElementsPerTask);
  each_part(elements, executor, [&](std::size_t task, std::size_t begin, std::size_t end) {
    Sums<Real> sum{};
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t l = 0; l < kSlices; ++l) {
        sum[l] += static_cast<double>(first[i * kSlices + l]) *
                  static_cast<double>(second[i * kSlices + l]);
      }
    }
    parts[task] = sum;
  });
  Sums<Real> all{};
  for (const Sums<Real>& part : parts) {
    for (std::size_t l = 0; l < kSlices; ++l) all[l] += part[l];
  }
  if (slices == Slices::kTogether) all.fill(std::accumulate(all.begin(), all.end(), 0.0));
  return all;
}

template <class Real>
Sums<Real> squares(const Real* data, std::size_t size, Executor& executor,
                   Slices slices = Slices::kApart) {
  return products(data, data, size, executor, slices);
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

/// Lengths of steps down a gradient: one that was given, in TomoPy's unit, or each as long as the
/// last two gradients tell (Barzilai & Borwein 1988).
template <class Real>
class StepLengths {
 public:
  /// `given` 0: found.
  StepLengths(double given, std::size_t rays, Slices slices = Slices::kApart)
      : found_(given <= 0), slices_(slices) {
    constexpr double kFirst = 1e-3;
    length_.fill((found_ ? kFirst : given) * 2 / static_cast<double>(rays));
  }
  /// Of halves of gradients, the one before and this one.
  void adapt(const Real* before, const Real* now, std::size_t size, Executor& executor) {
    if (!found_) return;
    const Sums<Real> turn = products(before, now, size, executor, slices_);
    const Sums<Real> own = squares(before, size, executor, slices_);
    const Sums<Real> next = squares(now, size, executor, slices_);
    for (std::size_t l = 0; l < length_.size(); ++l) {
      const double apart = next[l] - 2 * turn[l] + own[l];
      length_[l] = apart > 0 ? length_[l] * (own[l] - turn[l]) / apart : 0;
    }
  }
  /// What half the gradient is multiplied by.
  [[nodiscard]] std::array<Real, kRaySlices<Real>> factors() const {
    std::array<Real, kRaySlices<Real>> along;
    for (std::size_t l = 0; l < length_.size(); ++l) along[l] = static_cast<Real>(-2 * length_[l]);
    return along;
  }

 private:
  bool found_;
  Slices slices_;
  Sums<Real> length_;
};

/// Duals of the differences to the pixel below and beside, of total variation: each a step further
/// along the differences of `from`, n pixels a line, and both together not longer than `most`.
template <class Real>
void shrink_differences(const Real* from, std::size_t n, Real step, Real most, Real* downs,
                        Real* rights, Executor& executor) {
  constexpr std::size_t kSlices = kRaySlices<Real>;
  const std::size_t row = n * kSlices;
  executor.run(n, [&](std::size_t r) {
    for (std::size_t i = r * row; i < (r + 1) * row; ++i) {
      const bool last_column = i + kSlices >= (r + 1) * row;
      const Real below = r + 1 < n ? from[i + row] - from[i] : 0;
      const Real beside = last_column ? 0 : from[i + kSlices] - from[i];
      const Real down = downs[i] + step * below;
      const Real right = rights[i] + step * beside;
      const Real size = std::sqrt(down * down + right * right);
      const Real share = size > most ? most / size : 1;
      downs[i] = share * down;
      rights[i] = share * right;
    }
  });
}

/// Calls use(number, down, right) with what a number's duals have more than its neighbours' above
/// and on the left.
template <class Real, class Use>
void each_difference(std::size_t n, const Real* downs, const Real* rights, Executor& executor,
                     const Use& use) {
  constexpr std::size_t kSlices = kRaySlices<Real>;
  const std::size_t row = n * kSlices;
  executor.run(n, [&](std::size_t r) {
    for (std::size_t i = r * row; i < (r + 1) * row; ++i) {
      const Real above = r > 0 ? downs[i - row] : 0;
      const Real left = i >= r * row + kSlices ? rights[i - kSlices] : 0;
      use(i, downs[i] - above, rights[i] - left);
    }
  });
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

}  // namespace tomoloom::rays
