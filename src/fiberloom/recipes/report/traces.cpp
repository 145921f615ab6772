// SPDX-License-Identifier: BSD-3-Clause
// The PSF's traces, sampled; sums along them.
#include "fiberloom/recipes/report/traces.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace fiberloom::report {
namespace {

constexpr std::ptrdiff_t kReach = 3;  // columns: most of a fibre's light, none of the next one's

/// n + 1 edges half way between the bins.
std::vector<double> bin_edges(const std::vector<double>& wave) {
  const std::size_t n = wave.size();
  if (n < 2) return {wave.at(0) - 0.5, wave.at(0) + 0.5};
  std::vector<double> out(n + 1);
  for (std::size_t j = 1; j < n; ++j) out[j] = 0.5 * (wave[j - 1] + wave[j]);
  out[0] = 2 * wave[0] - out[1];
  out[n] = 2 * wave[n - 1] - out[n - 1];
  return out;
}

/// Sum over rows [r0, r1) and columns around `x` of the used pixels, in its own sigma.
float significance(const Array2D<float>& residual, const Array2D<float>& model,
                   const Array2D<float>& ivar, std::ptrdiff_t r0, std::ptrdiff_t r1,
                   std::ptrdiff_t x) {
  const auto rows = static_cast<std::ptrdiff_t>(residual.rows());
  const auto cols = static_cast<std::ptrdiff_t>(residual.cols());
  double sum = 0, variance = 0;
  for (std::ptrdiff_t r = std::max<std::ptrdiff_t>(r0, 0); r < std::min(r1, rows); ++r) {
    for (std::ptrdiff_t c = std::max<std::ptrdiff_t>(x - kReach, 0);
         c < std::min(x + kReach + 1, cols); ++c) {
      const auto i = static_cast<std::size_t>(r * cols + c);
      const double w = ivar.data()[i], v = residual.data()[i];
      if (!(w > 0) || model.data()[i] == 0.0F || !std::isfinite(v)) continue;
      sum += v;
      variance += 1 / w;
    }
  }
  return variance > 0 ? static_cast<float>(sum / std::sqrt(variance))
                      : std::numeric_limits<float>::quiet_NaN();
}

}  // namespace

Traces sample_traces(const PsfModel& psf, std::size_t first, std::size_t nspec, double wave_low,
                     double wave_high, std::size_t samples) {
  Traces out;
  for (std::size_t k = 0; k < samples; ++k) {
    out.wave.push_back(wave_low + (wave_high - wave_low) * static_cast<double>(k) /
                                      static_cast<double>(std::max<std::size_t>(samples - 1, 1)));
  }
  out.x = Array2D<float>(nspec, samples);
  out.y = Array2D<float>(nspec, samples);
  for (std::size_t s = 0; s < nspec; ++s) {
    for (std::size_t k = 0; k < samples; ++k) {
      out.x(s, k) = static_cast<float>(psf.x(first + s, out.wave[k]));
      out.y(s, k) = static_cast<float>(psf.y(first + s, out.wave[k]));
    }
  }
  return out;
}

Array2D<float> residual_along_traces(const PsfModel& psf, std::size_t first, std::size_t nspec,
                                     const std::vector<double>& wave,
                                     const Array2D<float>& residual, const Array2D<float>& model,
                                     const Array2D<float>& ivar) {
  Array2D<float> out(nspec, wave.size(), std::numeric_limits<float>::quiet_NaN());
  const std::vector<double> edges = bin_edges(wave);
  const auto limit = static_cast<double>(residual.rows() + residual.cols());
  for (std::size_t s = 0; s < nspec; ++s) {
    double below = psf.y(first + s, edges[0]);
    for (std::size_t j = 0; j < wave.size(); ++j) {
      const double above = psf.y(first + s, edges[j + 1]), x = psf.x(first + s, wave[j]);
      const double y0 = std::min(below, above), y1 = std::max(below, above);
      below = above;
      if (!(std::abs(x) < limit && std::abs(y0) < limit && std::abs(y1) < limit)) continue;
      const std::ptrdiff_t r0 = std::lround(y0);
      const std::ptrdiff_t r1 = std::max<std::ptrdiff_t>(std::lround(y1), r0 + 1);
      out(s, j) = significance(residual, model, ivar, r0, r1, std::lround(x));
    }
  }
  return out;
}

double effective_pixels(const PsfModel& psf, std::size_t first, std::size_t nspec,
                        const std::vector<double>& wave) {
  const std::size_t fiber = first + nspec / 2, j = wave.size() / 2;
  const double step =
      wave.size() < 2 ? 1.0 : (wave.back() - wave.front()) / static_cast<double>(wave.size() - 1);
  const double rows =
      std::abs(psf.y(fiber, wave[j] + 0.5 * step) - psf.y(fiber, wave[j] - 0.5 * step));
  return 2 * std::sqrt(std::numbers::pi) * psf.sigma_x(fiber, wave[j]) * rows;
}

}  // namespace fiberloom::report
