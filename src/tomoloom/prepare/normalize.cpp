// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/prepare/normalize.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "loom/simd/isa_tables.hpp"
#include "tomoloom/prepare/normalize_kernels.hpp"

namespace tomoloom {

LOOM_ISA_TABLES(NormalizeKernels, kNormalize, normalize_kernels_of)

const NormalizeKernels& normalize_kernels(Isa isa) { return normalize_kernels_of(isa); }

namespace {

/// Of one pixel in all frames. Counts that are no numbers say nothing, and leave the others; where
/// there are no others it is none either.
float average_of(std::vector<double>& counts, Averaging averaging) {
  std::erase_if(counts, [](double value) { return !std::isfinite(value); });
  const std::size_t n = counts.size();
  if (n == 0) return NAN;
  if (averaging == Averaging::kMean) {
    const double sum = std::accumulate(counts.begin(), counts.end(), 0.0);
    return static_cast<float>(sum / static_cast<double>(n));
  }
  std::sort(counts.begin(), counts.end());
  return static_cast<float>((counts[(n - 1) / 2] + counts[n / 2]) / 2);
}

template <class Counts>
std::vector<float> average(std::span<const Counts> frames, std::size_t pixels,
                           Averaging averaging) {
  const std::size_t n = frames.size() / pixels;
  std::vector<float> out(pixels);
  if (averaging == Averaging::kMean) {
    std::vector<double> sum(pixels, 0);
    for (std::size_t i = 0; i < frames.size(); ++i) {
      sum[i % pixels] += static_cast<double>(frames[i]);
    }
    for (std::size_t i = 0; i < pixels; ++i) {
      out[i] = static_cast<float>(sum[i] / static_cast<double>(n));
    }
    if (std::ranges::all_of(sum, [](double all) { return std::isfinite(all); })) return out;
  }
  std::vector<double> column;
  for (std::size_t i = 0; i < pixels; ++i) {
    column.clear();
    for (std::size_t k = 0; k < n; ++k) {
      column.push_back(static_cast<double>(frames[k * pixels + i]));
    }
    out[i] = average_of(column, averaging);
  }
  return out;
}

template <class Counts>
std::vector<std::size_t> saturated(std::span<const Counts> frames, std::size_t pixels) {
  constexpr std::array kEnds{255, 1023, 4095, 16383, 65535};
  std::vector<std::size_t> found;
  if (frames.empty()) return found;
  const Counts most = *std::max_element(frames.begin(), frames.end());
  if (std::none_of(kEnds.begin(), kEnds.end(),
                   [&](int end) { return most == static_cast<Counts>(end); })) {
    return found;
  }
  const std::size_t n = frames.size() / pixels;
  for (std::size_t i = 0; i < pixels; ++i) {
    std::size_t count = 0;
    for (std::size_t k = 0; k < n; ++k) count += frames[k * pixels + i] == most ? 1 : 0;
    if (2 * count >= n) found.push_back(i);
  }
  return found;
}

template <class Counts>
void normalize_with(std::span<const Counts> counts, const Gain& gain, Logarithm logarithm,
                    std::span<float> out, Isa isa) {
  const NormalizeKernels& kernels = normalize_kernels(isa);
  if constexpr (sizeof(Counts) == 2) {
    kernels.from_counts(counts.data(), gain.dark.data(), gain.scale.data(), out.size(), out.data());
  } else {
    kernels.from_floats(counts.data(), gain.dark.data(), gain.scale.data(), out.size(), out.data());
  }
  if (logarithm == Logarithm::kMinusLog) kernels.minus_log(out.data(), out.size());
}

}  // namespace

std::vector<float> average_frames(std::span<const float> frames, std::size_t pixels,
                                  Averaging averaging) {
  return average(frames, pixels, averaging);
}
std::vector<float> average_frames(std::span<const std::uint16_t> frames, std::size_t pixels,
                                  Averaging averaging) {
  return average(frames, pixels, averaging);
}

std::vector<std::size_t> saturated_pixels(std::span<const float> frames, std::size_t pixels) {
  return saturated(frames, pixels);
}
std::vector<std::size_t> saturated_pixels(std::span<const std::uint16_t> frames,
                                          std::size_t pixels) {
  return saturated(frames, pixels);
}

Gain make_gain(std::span<const float> flat, std::span<const float> dark) {
  Gain gain{.dark = {dark.begin(), dark.end()}, .scale = std::vector<float>(flat.size(), 0)};
  for (std::size_t i = 0; i < flat.size(); ++i) {
    const float light = flat[i] - dark[i];
    if (light > 0) {
      gain.scale[i] = 1 / light;
    } else {
      ++gain.blind;
    }
  }
  return gain;
}

void normalize(std::span<const std::uint16_t> counts, const Gain& gain, Logarithm logarithm,
               std::span<float> out, Isa isa) {
  normalize_with(counts, gain, logarithm, out, isa);
}
void normalize(std::span<const float> counts, const Gain& gain, Logarithm logarithm,
               std::span<float> out, Isa isa) {
  normalize_with(counts, gain, logarithm, out, isa);
}

void minus_log(std::span<float> transmissions, Isa isa) {
  normalize_kernels(isa).minus_log(transmissions.data(), transmissions.size());
}

void copy_finite(std::span<const float> in, std::span<float> out) {
  std::transform(in.begin(), in.end(), out.begin(),
                 [](float value) { return std::abs(value) < kMostIntegral ? value : 0.0F; });
}

}  // namespace tomoloom
