// SPDX-License-Identifier: BSD-3-Clause
// Total variation.
#include "tomoloom/reconstruct/ray_engine.hpp"
#include "tomoloom/reconstruct/ray_loops.hpp"

namespace tomoloom {

using rays::each_part;

/// Chambolle & Pock 2011 with a step for each unknown of either side (Pock & Chambolle 2011): one
/// over the sums of the lines of A and of the differences together.
template <class Real>
void RayEngine<Real>::total_variation(const Real* sinogram, Real* slice, Executor& executor,
                                      const BeforeRound& before) {
  constexpr std::size_t kSlices = kRaySlices<Real>;
  constexpr Real kDifferences = 4;                                 // that a pixel takes part in
  const std::size_t n = pair_.columns(), group = n * n * kSlices;  // of a stack of them
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
    see(pair_, direction_.data(), line_.data(), executor);  // direction_: the point looked from
    each_part(row_scale_.size(), executor, [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const Real step = balance * row_scale_[i];
        for (std::size_t at = i * kSlices; at < (i + 1) * kSlices; ++at) {
          dual_[at] = (dual_[at] + step * (line_[at] - sinogram[at])) / (1 + step);
        }
      }
    });
    for (std::size_t at = 0; at < slice_.size(); at += group) {
      rays::shrink_differences(direction_.data() + at, n, balance / 2, weight, down_.data() + at,
                               right_.data() + at, executor);
    }
    pair_.back_project(dual_.data(), step_.data(), executor);
    for (std::size_t at = 0; at < slice_.size(); at += group) {
      rays::each_difference(n, down_.data() + at, right_.data() + at, executor,
                            [&](std::size_t in_group, Real down, Real right) {
                              const std::size_t i = at + in_group;
                              const Real scale = column_scale_[i / kSlices];
                              const Real step = scale / (1 + kDifferences * scale) / balance;
                              const Real next = slice[i] - step * (step_[i] - down - right);
                              direction_[i] = 2 * next - slice[i];
                              slice[i] = next;
                            });
    }
  }
}

template void RayEngine<float>::total_variation(const float*, float*, Executor&,
                                                const BeforeRound&);
template void RayEngine<double>::total_variation(const double*, double*, Executor&,
                                                 const BeforeRound&);

}  // namespace tomoloom
