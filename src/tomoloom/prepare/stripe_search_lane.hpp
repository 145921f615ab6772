// SPDX-License-Identifier: BSD-3-Clause
// The search for stripes on packs: slopes, their ratios, ranks in windows with a line in each lane.
#pragma once

#include <algorithm>
#include <cstddef>

#include "loom/base/scalar_lane.hpp"
#include "tomoloom/prepare/stripe_lane.hpp"
#include "tomoloom/prepare/stripe_search_kernels.hpp"

namespace tomoloom::lane {

/// V: a pack of floats; D: one of doubles.
template <class V, class D>
struct StripeSearchTable {
  static constexpr std::size_t width = V::width;

  static void add_slopes(const float* line, std::size_t n, float* sums) {
    std::size_t x = 0;
    for (; x + width + 2 <= n; x += width) {
      (V::load(sums + x) + abs(V::load(line + x + 2) - V::load(line + x))).store(sums + x);
    }
    for (; x < n; ++x) {
      if (x + 2 >= n && x < 2) continue;
      const float slope = line[x + 2 < n ? x + 2 : x - 2] - line[x];
      sums[x] += slope < 0 ? -slope : slope;
    }
  }
  static void add_values(const float* line, std::size_t n, float* sums) {
    std::size_t x = 0;
    for (; x + width <= n; x += width) (V::load(sums + x) + V::load(line + x)).store(sums + x);
    for (; x < n; ++x) sums[x] += line[x];
  }

  static V ratio(V a, V b) {
    const V most = max(a, b);
    return select_positive(most, min(a, b) / most, V(0));
  }
  /// A place near an end, where windows are mirrored.
  static float ratio_at(std::size_t x, const float* along, const float* across, std::size_t n,
                        std::size_t radius, float of_along, float of_across) {
    float before = 0, after = 0;
    for (std::size_t m = 1; m <= radius; ++m) {
      const std::size_t left = x >= m ? x - m : (x + m < n ? x + m : x);
      const std::size_t right = x + m < n ? x + m : (x >= m ? x - m : x);
      before += across[left];
      after += across[right];
    }
    const auto of = [](float a, float b) {
      const float most = a > b ? a : b;
      return most > 0 ? (a < b ? a : b) / most : 0.0F;
    };
    const float a = along[x] * of_along;
    const float one = of(a, after * of_across), other = of(a, before * of_across);
    return one < other ? one : other;
  }
  static void ratios(const float* along, const float* across, std::size_t n, std::size_t radius,
                     float* out) {
    const auto side = static_cast<float>(2 * radius + 1);
    const float of_along = 1 / (side * side), of_across = 1 / static_cast<float>(3 * radius);
    std::size_t x = 0;
    for (; x < std::min(radius, n); ++x) {
      out[x] = ratio_at(x, along, across, n, radius, of_along, of_across);
    }
    for (; x + radius + width <= n; x += width) {
      V before(0), after(0);
      for (std::size_t m = 1; m <= radius; ++m) {
        before += V::load(across + x - m);
        after += V::load(across + x + m);
      }
      const V a = V::load(along + x) * V(of_along);
      min(ratio(a, after * V(of_across)), ratio(a, before * V(of_across))).store(out + x);
    }
    for (; x < n; ++x) out[x] = ratio_at(x, along, across, n, radius, of_along, of_across);
  }

  /// The sorted window of a pack of lines, from place 0 to the last.
  static void ranks_of_pack(const float* in, std::size_t step, const WindowWalk& walk,
                            std::size_t rank, std::size_t count, float* window, float* out,
                            std::size_t out_step) {
    for (std::size_t w = 0; w < walk.size; ++w) {
      V come = V::load(in + walk.first[w] * step);
      for (std::size_t i = 0; i < w; ++i) {
        const V own = V::load(window + i * kRankLanes);
        min(own, come).store(window + i * kRankLanes);
        come = max(own, come);
      }
      come.store(window + w * kRankLanes);
    }
    std::size_t e = 0;
    for (std::size_t i = 0; i < walk.n; ++i) {
      for (; e < walk.ends[i]; ++e) {
        StripeTable<V, D>::exchange_in(V::load(in + walk.exchanges[e].gone * step),
                                       V::load(in + walk.exchanges[e].come * step), walk.size,
                                       window);
      }
      std::copy_n(window + rank * kRankLanes, count, out + i * out_step);
    }
  }
  static void ranks(const float* in, std::size_t step, const WindowWalk& walk, std::size_t rank,
                    std::size_t count, float* window, float* out, std::size_t out_step) {
    for (std::size_t lane = 0; lane < count; lane += width) {
      ranks_of_pack(in + lane, step, walk, rank, std::min(width, count - lane), window + lane,
                    out + lane, out_step);
    }
  }

  static constexpr StripeSearchKernels table() { return {add_slopes, add_values, ratios, ranks}; }
};

}  // namespace tomoloom::lane
