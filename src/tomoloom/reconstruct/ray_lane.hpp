// SPDX-License-Identifier: BSD-3-Clause
// The shadows of pixels, and what is moved through them with slices innermost: a weight serves all
// slices of the group. Both directions use the same weights, so that they are each other's
// transpose to within rounding.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "loom/base/scalar_lane.hpp"
#include "tomoloom/reconstruct/ray_kernels.hpp"

namespace tomoloom::lane {

template <class V, class Real>
struct RayTable {
  static constexpr std::size_t width = V::width, slices = kRaySlices<Real>;

  /// Area of a trapezoid of area 1 on the left of `at`, counted from its middle. `steep`: 1/(2
  /// (base
  /// - top)), of a rectangle anything finite.
  static double area_left(double at, const RowShadow& s, double height, double steep) {
    const double from = std::min(std::abs(at), s.half_base);
    const double flat = std::min(from, s.half_top), slant = from - flat;
    const double half = height * (flat + slant - slant * slant * steep);
    return at < 0 ? 0.5 - half : 0.5 + half;
  }

  static void cast(const RowShadow& s, std::size_t pixels, std::int32_t* bin, Real* weight) {
    const double height = 1 / (s.half_base + s.half_top);
    const double slant = s.half_base - s.half_top;
    const double steep = slant > 1e-12 ? 1 / (2 * slant) : 0;
    for (std::size_t i = 0; i < pixels; ++i) {
      const double middle = s.first + s.step * static_cast<double>(i);
      const double low = std::floor(middle - s.half_base + 0.5);
      const double one = area_left(low + 0.5 - middle, s, height, steep);
      const double two = area_left(low + 1.5 - middle, s, height, steep);
      bin[i] = static_cast<std::int32_t>(low);
      weight[kShadowBins * i] = static_cast<Real>(one);
      weight[kShadowBins * i + 1] = static_cast<Real>(two - one);
      weight[kShadowBins * i + 2] = static_cast<Real>(1 - two);
    }
  }

  /// Calls use(place in the line, weight) for each of a pixel's bins that there are.
  template <class Use>
  static void each_bin(const ShadowTable<Real>& table, std::size_t i, const Use& use) {
    for (std::size_t k = 0; k < kShadowBins; ++k) {
      const auto bin = static_cast<std::ptrdiff_t>(table.bin[i]) + static_cast<std::ptrdiff_t>(k);
      if (bin < 0 || bin >= static_cast<std::ptrdiff_t>(table.columns)) continue;
      use(static_cast<std::size_t>(bin) * slices, table.weight[kShadowBins * i + k]);
    }
  }
  static bool inside(const ShadowTable<Real>& table, std::size_t i) {
    return table.bin[i] >= 0 &&
           static_cast<std::size_t>(table.bin[i]) + kShadowBins <= table.columns;
  }

  static void spread(const ShadowTable<Real>& table, const Real* row, Real* line) {
    for (std::size_t i = 0; i < table.pixels; ++i, row += slices) {
      if (!inside(table, i)) {
        each_bin(table, i, [&](std::size_t at, Real w) {
          for (std::size_t lane = 0; lane < slices; lane += width) {
            fma(V(w), V::load(row + lane), V::load(line + at + lane)).store(line + at + lane);
          }
        });
        continue;
      }
      Real* const to = line + static_cast<std::size_t>(table.bin[i]) * slices;
      const V a(table.weight[kShadowBins * i]), b(table.weight[kShadowBins * i + 1]),
          c(table.weight[kShadowBins * i + 2]);
      for (std::size_t lane = 0; lane < slices; lane += width) {
        const V value = V::load(row + lane);
        Real* const at = to + lane;
        fma(a, value, V::load(at)).store(at);
        fma(b, value, V::load(at + slices)).store(at + slices);
        fma(c, value, V::load(at + 2 * slices)).store(at + 2 * slices);
      }
    }
  }

  static void collect(const ShadowTable<Real>& table, const Real* line, Real* row) {
    for (std::size_t i = 0; i < table.pixels; ++i, row += slices) {
      if (!inside(table, i)) {
        each_bin(table, i, [&](std::size_t at, Real w) {
          for (std::size_t lane = 0; lane < slices; lane += width) {
            fma(V(w), V::load(line + at + lane), V::load(row + lane)).store(row + lane);
          }
        });
        continue;
      }
      const Real* const from = line + static_cast<std::size_t>(table.bin[i]) * slices;
      const V a(table.weight[kShadowBins * i]), b(table.weight[kShadowBins * i + 1]),
          c(table.weight[kShadowBins * i + 2]);
      for (std::size_t lane = 0; lane < slices; lane += width) {
        const Real* const at = from + lane;
        V sum = fma(a, V::load(at), V::load(row + lane));
        sum = fma(b, V::load(at + slices), sum);
        fma(c, V::load(at + 2 * slices), sum).store(row + lane);
      }
    }
  }

  static void sum(const RayEntries<Real>& ray, const Real* slice, Real* seen) {
    V total[slices / width];
    for (V& one : total) one = V(0);
    for (std::size_t i = 0; i < ray.count; ++i) {
      const V w(ray.weight[i]);
      const Real* const at = slice + static_cast<std::size_t>(ray.pixel[i]) * slices;
      FL_UNROLL
      for (std::size_t k = 0; k < slices / width; ++k) {
        total[k] = fma(w, V::load(at + k * width), total[k]);
      }
    }
    for (std::size_t k = 0; k < slices / width; ++k) total[k].store(seen + k * width);
  }

  static void add(const RayEntries<Real>& ray, const Real* step, Real* slice) {
    for (std::size_t i = 0; i < ray.count; ++i) {
      const V w(ray.weight[i]);
      Real* const at = slice + static_cast<std::size_t>(ray.pixel[i]) * slices;
      for (std::size_t lane = 0; lane < slices; lane += width) {
        fma(w, V::load(step + lane), V::load(at + lane)).store(at + lane);
      }
    }
  }

  /// What rows -1, 0, 1, 2 count at `down` rows below row 0: cubics that meet with one slope, exact
  /// for parabolas (Keys 1981).
  static std::array<Real, 4> between_rows(Real down) {
    const Real up = 1 - down, half(0.5);
    return {-half * down * up * up, 1 - half * down * down * (5 - 3 * down),
            1 - half * up * up * (5 - 3 * up), -half * up * down * down};
  }

  static void collect_between(const RowLines<Real>& lines, const TiltedRow& seen,
                              std::size_t pixels, Real* row) {
    const double last = static_cast<double>(lines.points) - 1;
    for (std::size_t i = 0; i < pixels; ++i, row += slices) {
      const double at = seen.first + seen.step * static_cast<double>(i);
      if (!(at >= 0) || !(at < last)) continue;
      const double away = seen.row + seen.row_step * static_cast<double>(i);
      const double below = std::floor(at), above = std::floor(away);
      const auto far = static_cast<Real>(at - below);
      const std::array<Real, 4> rows = between_rows(static_cast<Real>(away - above));
      const Real* const from = lines.data + static_cast<std::size_t>(below) * lines.rows +
                               static_cast<std::size_t>(above) - 1;
      const Real* const next = from + lines.rows;
      for (std::size_t lane = 0; lane < slices; lane += width) {
        V near(0), more(0);
        FL_UNROLL
        for (std::size_t k = 0; k < 4; ++k) {
          near = fma(V(rows[k]), V::load(from + lane + k), near);
          more = fma(V(rows[k]), V::load(next + lane + k), more);
        }
        fma(V(far), more - near, V::load(row + lane) + near).store(row + lane);
      }
    }
  }

  static void slide(const RowLines<Real>& lines, const RowSlide& by, Real* row) {
    for (std::size_t i = 0; i < lines.points; ++i, row += slices) {
      const double at = by.first + by.step * static_cast<double>(i), above = std::floor(at);
      const V near(static_cast<Real>(by.scale * (1 - (at - above))));
      const V far(static_cast<Real>(by.scale * (at - above)));
      const Real* const from = lines.data + i * lines.rows + static_cast<std::size_t>(above);
      for (std::size_t lane = 0; lane < slices; lane += width) {
        const V sum = fma(near, V::load(from + lane), V::load(row + lane));
        fma(far, V::load(from + lane + 1), sum).store(row + lane);
      }
    }
  }

  static constexpr RayKernels<Real> table() {
    return {cast, spread, collect, sum, add, collect_between, slide};
  }
};

}  // namespace tomoloom::lane
