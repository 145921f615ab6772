// SPDX-License-Identifier: BSD-3-Clause
// Loops over elements of a group of slices, for the files of RayEngine alone.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "loom/base/executor.hpp"
#include "tomoloom/reconstruct/ray_kernels.hpp"

namespace tomoloom::rays {

/// Elements that a task goes through: sums over all of them are those of the tasks, in their order.
inline constexpr std::size_t kElementsPerTask = 8192;

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

/// The sum of products of each slice.
template <class Real>
Sums<Real> products(const Real* first, const Real* second, std::size_t size, Executor& executor) {
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
  return all;
}

template <class Real>
Sums<Real> squares(const Real* data, std::size_t size, Executor& executor) {
  return products(data, data, size, executor);
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
