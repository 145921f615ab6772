// SPDX-License-Identifier: BSD-3-Clause
// Muench et al. 2009 as TomoPy has it: of the wavelets (Daubechies 5) that are details along the
// row and smooth along angles, what is constant over angles is damped.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include "loom/base/array.hpp"
#include "tomoloom/prepare/stripe_kinds.hpp"

namespace tomoloom {
namespace {

/// Synthesis filter of Daubechies' wavelet with five vanishing moments.
constexpr std::array<double, kTaps> kLow{
    0.160102397974125,     0.6038292697974729,   0.7243085284385744,  0.13842814590110342,
    -0.24229488706619015,  -0.03224486958502952, 0.07757149384006515, -0.006241490213011705,
    -0.012580751999015526, 0.003335725285001549};
constexpr std::size_t kHalf = kTaps / 2;

double high(std::size_t i) { return (i % 2 == 0 ? 1 : -1) * kLow[kTaps - 1 - i]; }

using Taps = std::array<float, kTaps>;
using Lines = std::array<const float*, kTaps>;

/// Of smooth and of rough, where tap j meets what lies j back.
struct Analysis {
  Taps smooth{}, rough{};
  Analysis() {
    for (std::size_t j = 0; j < kTaps; ++j) {
      smooth[j] = static_cast<float>(kLow[kTaps - 1 - j]);
      rough[j] = static_cast<float>(high(kTaps - 1 - j));
    }
  }
};

/// What point 2 m + phase is made of: five of smooth, then five of rough, m + 4 first.
Taps synthesis(std::size_t phase) {
  Taps taps;
  for (std::size_t q = 0; q < kHalf; ++q) {
    taps[q] = static_cast<float>(kLow[2 * q + phase]);
    taps[kHalf + q] = static_cast<float>(high(2 * q + phase));
  }
  return taps;
}

std::size_t mirrored(std::ptrdiff_t i, std::size_t n) {
  const auto period = static_cast<std::ptrdiff_t>(2 * n);
  i = ((i % period) + period) % period;
  return static_cast<std::size_t>(i < static_cast<std::ptrdiff_t>(n) ? i : period - 1 - i);
}

std::size_t analysed(std::size_t n) { return (n + kTaps - 1) / 2; }
/// Of which one may be too many.
std::size_t synthesised(std::size_t half) { return 2 * half - kTaps + 2; }

/// What a plane is taken apart to: four planes [rows][columns], smooth along both axes or rough
/// along one or both.
struct Level {
  std::size_t from_rows = 0, from_columns = 0;  ///< of what is taken apart
  std::size_t rows = 0, columns = 0;
  std::size_t stride = 0;  ///< of `smooth`: wide enough for what is synthesised in its place
  float* smooth = nullptr;
  float* horizontal = nullptr;  ///< rough along angles
  float* vertical = nullptr;    ///< rough along columns: stripes are in it
  float* diagonal = nullptr;
};

/// All levels in one piece of memory.
class Pyramid {
 public:
  Pyramid(std::size_t rows, std::size_t columns, std::size_t count) {
    std::size_t size = 0;
    for (std::size_t l = 0; l < count; ++l) {
      const Level level{.from_rows = rows,
                        .from_columns = columns,
                        .rows = analysed(rows),
                        .columns = analysed(columns),
                        .stride = analysed(columns) + 1};
      levels_.push_back(level);
      rows = level.rows;
      columns = level.columns;
      size += rows * (level.stride + 3 * columns);
    }
    memory_ = Buffer<float>(size);
    float* at = memory_.data();
    for (Level& level : levels_) {
      const std::size_t plane = level.rows * level.columns;
      level.smooth = at;
      level.horizontal = at + level.rows * level.stride;
      level.vertical = level.horizontal + plane;
      level.diagonal = level.vertical + plane;
      at = level.diagonal + plane;
    }
  }
  [[nodiscard]] const std::vector<Level>& levels() const noexcept { return levels_; }

 private:
  std::vector<Level> levels_;
  Buffer<float> memory_;
};

/// Lines of a row's work, in the cache.
class RowWork {
 public:
  explicit RowWork(std::size_t columns) : even_(columns + kTaps), odd_(columns + kTaps) {}

  /// A row -> smooth and rough. Points of even and of odd number are two lines, over which the taps
  /// take turns.
  void analyse(const float* from, std::size_t columns, float* smooth, float* rough) {
    static const Analysis kFilters;
    const std::size_t n = analysed(columns), before = kHalf - 1;
    Lines lines{};
    for (std::size_t q = 0; q < kHalf; ++q) {
      lines[2 * q] = odd_.data() + before - q;
      lines[2 * q + 1] = even_.data() + before - q;
    }
    const auto beyond = [&](std::size_t i) {
      const auto at = 2 * (static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(before));
      even_[i] = from[mirrored(at, columns)];
      odd_[i] = from[mirrored(at + 1, columns)];
    };
    for (std::size_t i = 0; i < before; ++i) beyond(i);
    float* const even = even_.data() + before;
    float* const odd = odd_.data() + before;
    for (std::size_t m = 0; m < columns / 2; ++m) {
      even[m] = from[2 * m];
      odd[m] = from[2 * m + 1];
    }
    for (std::size_t i = before + columns / 2; i < n + before; ++i) beyond(i);
    kernels_.filter_pair(lines.data(), kFilters.smooth.data(), kFilters.rough.data(), n, smooth,
                         rough);
  }

  /// Smooth and rough, n points each -> synthesised(n) of a row.
  void synthesise(const float* smooth, const float* rough, std::size_t n, float* to) {
    Lines lines{};
    for (std::size_t q = 0; q < kHalf; ++q) {
      lines[q] = smooth + kHalf - 1 - q;
      lines[kHalf + q] = rough + kHalf - 1 - q;
    }
    const std::size_t pairs = synthesised(n) / 2;
    float* const even = even_.data();
    float* const odd = odd_.data();
    kernels_.filter_pair(lines.data(), phases()[0].data(), phases()[1].data(), pairs, even, odd);
    for (std::size_t m = 0; m < pairs; ++m) {
      to[2 * m] = even[m];
      to[2 * m + 1] = odd[m];
    }
  }

  [[nodiscard]] static const std::array<Taps, 2>& phases() {
    static const std::array<Taps, 2> kFilters{synthesis(0), synthesis(1)};
    return kFilters;
  }

 private:
  const StripeKernels& kernels_ = stripe_kernels();
  std::vector<float> even_, odd_;
};

using RowOf = std::function<const float*(std::size_t)>;

/// Along angles row by row, and each such row along itself at once, while it is in the cache.
void analyse(const Level& level, const RowOf& row_of, RowWork& work) {
  static const Analysis kFilters;
  const StripeKernels& kernels = stripe_kernels();
  std::vector<float> smooth(level.from_columns), rough(level.from_columns);
  for (std::size_t o = 0; o < level.rows; ++o) {
    Lines lines{};
    for (std::size_t j = 0; j < kTaps; ++j) {
      const auto at = static_cast<std::ptrdiff_t>(2 * o + 1) - static_cast<std::ptrdiff_t>(j);
      lines[j] = row_of(mirrored(at, level.from_rows));
    }
    kernels.filter_pair(lines.data(), kFilters.smooth.data(), kFilters.rough.data(),
                        level.from_columns, smooth.data(), rough.data());
    const std::size_t at = o * level.columns;
    work.analyse(smooth.data(), level.from_columns, level.smooth + o * level.stride,
                 level.vertical + at);
    work.analyse(rough.data(), level.from_columns, level.horizontal + at, level.diagonal + at);
  }
}

/// Rows of what the level was made of, two at a time: `row(r)` is where row r goes, with room for
/// one number too many; nullptr: nobody wants it.
void synthesise(const Level& level, const std::function<float*(std::size_t)>& row, RowWork& work) {
  const StripeKernels& kernels = stripe_kernels();
  const std::size_t columns = synthesised(level.columns);
  constexpr std::size_t kRing = 8;  // rows along themselves that are at hand
  std::vector<float> smooth(kRing * columns), rough(kRing * columns), spare(columns);
  for (std::size_t r = 0; r < level.rows; ++r) {
    const std::size_t slot = r % kRing * columns, at = r * level.columns;
    work.synthesise(level.smooth + r * level.stride, level.vertical + at, level.columns,
                    &smooth[slot]);
    work.synthesise(level.horizontal + at, level.diagonal + at, level.columns, &rough[slot]);
    if (r + 1 < kHalf) continue;
    const std::size_t pair = r + 1 - kHalf;
    float* const even = row(2 * pair);
    float* const odd = row(2 * pair + 1);
    if (even == nullptr && odd == nullptr) continue;
    Lines lines{};
    for (std::size_t q = 0; q < kHalf; ++q) {
      lines[q] = &smooth[(r - q) % kRing * columns];
      lines[kHalf + q] = &rough[(r - q) % kRing * columns];
    }
    kernels.filter_pair(lines.data(), RowWork::phases()[0].data(), RowWork::phases()[1].data(),
                        columns, even == nullptr ? spare.data() : even,
                        odd == nullptr ? spare.data() : odd);
  }
}

/// Takes from the vertical details what lies in the Gaussian around frequency 0 along angles.
void damp(const Level& level, double sigma) {
  const std::span<float> plane(level.vertical, level.rows * level.columns);
  const std::vector<float> low =
      through_band(gaussian_band(level.rows, sigma, Shift::kSpectrum), plane, level.columns);
  for (std::size_t i = 0; i < plane.size(); ++i) plane[i] -= low[i];
}

}  // namespace

void wavelet(Sinogram& s, std::size_t level, double sigma) {
  if (level == 0) {
    level = static_cast<std::size_t>(
        std::ceil(std::log2(static_cast<double>(std::max(s.angles, s.columns)))));
  }
  const std::size_t padded = s.angles + s.angles / 8, shift = (padded - s.angles) / 2;
  const Pyramid pyramid(padded, s.columns, level);
  const std::vector<Level>& levels = pyramid.levels();
  RowWork work(s.columns + kTaps);
  const std::vector<float> empty(s.columns, 0);
  for (std::size_t l = 0; l < level; ++l) {
    analyse(
        levels[l],
        [&](std::size_t r) -> const float* {
          if (l > 0) return levels[l - 1].smooth + r * levels[l - 1].stride;
          return r < shift || r >= shift + s.angles ? empty.data() : &s.at(r - shift, 0);
        },
        work);
    damp(levels[l], sigma);
  }
  for (std::size_t l = level; l-- > 1;) {
    const Level& to = levels[l - 1];
    synthesise(
        levels[l], [&](std::size_t r) { return r < to.rows ? to.smooth + r * to.stride : nullptr; },
        work);
  }
  // of an odd width each row has a number too many
  const std::size_t wide = synthesised(levels[0].columns);
  std::vector<float> aside(wide == s.columns ? 0 : s.angles * wide);
  float* const out = aside.empty() ? s.values.data() : aside.data();
  synthesise(
      levels[0],
      [&](std::size_t r) {
        return r < shift || r >= shift + s.angles ? nullptr : out + (r - shift) * wide;
      },
      work);
  if (aside.empty()) return;
  for (std::size_t a = 0; a < s.angles; ++a) {
    std::copy_n(&aside[a * wide], s.columns, &s.at(a, 0));
  }
}

}  // namespace tomoloom
