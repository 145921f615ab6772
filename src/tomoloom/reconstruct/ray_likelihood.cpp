// SPDX-License-Identifier: BSD-3-Clause
// The likelihood of counts, with or without a penalty for differences between neighbours.
#include <array>
#include <cmath>

#include "tomoloom/reconstruct/ray_engine.hpp"
#include "tomoloom/reconstruct/ray_loops.hpp"

namespace tomoloom {

using rays::each_part;

namespace {

/// Of a pixel's neighbours: those beside it count 1, those across a corner 1/sqrt(2), all of them
/// together 1.
struct Neighbour {
  int row, column;
  double share;
};
constexpr double kCorner = 0.70710678118654752;
constexpr std::array<Neighbour, 8> kNeighbours{{{0, 1, 1},
                                                {0, -1, 1},
                                                {1, 0, 1},
                                                {-1, 0, 1},
                                                {1, 1, kCorner},
                                                {1, -1, kCorner},
                                                {-1, 1, kCorner},
                                                {-1, -1, kCorner}}};

}  // namespace

template <class Real>
std::vector<std::vector<Real>> RayEngine<Real>::block_scales(Executor& executor) {
  std::vector<std::vector<Real>> scales;
  for (const RayPair<Real>& part : parts_) {
    std::fill_n(line_.data(), part.sinogram_size(), Real(1));
    part.back_project(line_.data(), step_.data(), executor);
    scales.push_back(rays::inverse_sums(step_.data(), step_.size() / kRaySlices<Real>));
  }
  return scales;
}

/// De Pierro's surrogate (1995; Chang et al. 2004): with e = x A^T(b / A x) and s = A^T 1, the root
/// of 2 F x^2 + G x - e = 0, F the neighbours' weights and G = s less what they pull to. step_
/// holds A^T(b / A x). Without a penalty it is x = e / s.
template <class Real>
void RayEngine<Real>::penalised(Real* slice, const std::vector<Real>& scale, Executor& executor) {
  constexpr std::size_t kSlices = kRaySlices<Real>;
  const auto n = static_cast<int>(pair_.columns());
  const bool edges =
      choice_.method == RayMethod::kPmlHybrid || choice_.method == RayMethod::kOspmlHybrid;
  const auto weight = static_cast<Real>(2 * choice_.weight);
  const Real calm = edges ? static_cast<Real>(1 / choice_.edge) : 0;
  executor.run(pair_.columns(), [&](std::size_t r) {
    for (int c = 0; c < n; ++c) {
      const std::size_t pixel = r * pair_.columns() + static_cast<std::size_t>(c);
      const Real* const own = slice + pixel * kSlices;
      Real* const out = direction_.data() + pixel * kSlices;
      std::copy_n(own, kSlices, out);
      if (scale[pixel] == 0) continue;  // this block does not see the pixel
      Real pull[kSlices] = {}, hold[kSlices] = {};
      double all = 0;
      const auto there = [&](const Neighbour& q) {
        const int row = static_cast<int>(r) + q.row, column = c + q.column;
        return row >= 0 && row < n && column >= 0 && column < n;
      };
      for (const Neighbour& q : kNeighbours) all += there(q) ? q.share : 0;
      for (const Neighbour& q : kNeighbours) {
        if (!there(q)) continue;
        const Real share = weight * static_cast<Real>(q.share / all);
        const Real* const other = own + (q.row * n + q.column) * static_cast<int>(kSlices);
        for (std::size_t l = 0; l < kSlices; ++l) {
          const Real counts = share / (1 + calm * std::abs(own[l] - other[l]));
          hold[l] += counts;
          pull[l] += counts * (own[l] + other[l]);
        }
      }
      const Real* const step = step_.data() + pixel * kSlices;
      for (std::size_t l = 0; l < kSlices; ++l) {
        const Real e = own[l] * step[l], g = 1 / scale[pixel] - pull[l];
        const Real root = std::sqrt(g * g + 8 * e * hold[l]);
        out[l] = g > 0 ? 2 * e / (g + root) : hold[l] > 0 ? (root - g) / (4 * hold[l]) : own[l];
      }
    }
  });
  std::copy_n(direction_.data(), slice_.size(), slice);
}

template <class Real>
void RayEngine<Real>::likelihood(const Real* sinogram, Real* slice, Executor& executor,
                                 const BeforeRound& before) {
  constexpr std::size_t kSlices = kRaySlices<Real>;
  constexpr Real kMostRatio = 1e6;  // where a ray sees next to nothing of what it should
  const bool plain = choice_.method == RayMethod::kMlem || choice_.method == RayMethod::kOsem;
  const std::vector<std::vector<Real>> scales = block_scales(executor);
  std::vector<Real> seen(slice_.size() / kSlices, 0);
  for (const std::vector<Real>& scale : scales) {
    for (std::size_t i = 0; i < seen.size(); ++i) seen[i] += scale[i];
  }
  for (std::size_t i = 0; i < slice_.size(); ++i) slice[i] = seen[i / kSlices] > 0 ? 1 : 0;
  for (std::size_t round = 0; round < choice_.iterations; ++round) {
    const Real* ray = sinogram;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      if (before) before(round);
      const std::size_t size = parts_[k].sinogram_size();
      parts_[k].project(slice, line_.data(), executor);
      each_part(size / kSlices, executor, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin * kSlices; i < end * kSlices; ++i) {
          const Real want = std::max(ray[i], Real(0));
          const Real got = std::max(line_[i], want / kMostRatio);
          line_[i] = got > 0 ? want / got : 0;
        }
      });
      parts_[k].back_project(line_.data(), step_.data(), executor);
      ray += size;
      const std::vector<Real>& scale = scales[k];
      if (!plain) {
        penalised(slice, scale, executor);
        continue;
      }
      each_part(scale.size(), executor, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          if (scale[i] == 0) continue;  // this block does not see the pixel
          for (std::size_t at = i * kSlices; at < (i + 1) * kSlices; ++at) {
            slice[at] *= scale[i] * step_[at];
          }
        }
      });
    }
  }
}

template void RayEngine<float>::likelihood(const float*, float*, Executor&, const BeforeRound&);
template void RayEngine<double>::likelihood(const double*, double*, Executor&, const BeforeRound&);
template void RayEngine<float>::penalised(float*, const std::vector<float>&, Executor&);
template void RayEngine<double>::penalised(double*, const std::vector<double>&, Executor&);
template std::vector<std::vector<float>> RayEngine<float>::block_scales(Executor&);
template std::vector<std::vector<double>> RayEngine<double>::block_scales(Executor&);

}  // namespace tomoloom
