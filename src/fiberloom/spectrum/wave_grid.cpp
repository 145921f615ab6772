// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/spectrum/wave_grid.hpp"

#include <cmath>
#include <string>

#include "fiberloom/foundation.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {

std::vector<double> linear_wave_grid(double wmin, double wmax, double dw) {
  constexpr double kMostBins = 1e6;
  const auto refuse = [&](const std::string& why) {
    throw Error(Status::kUsage, print("wavelength grid %.10g,%.10g,%.10g: ", wmin, wmax, dw) + why);
  };
  if (!(dw > 0) || !std::isfinite(dw) || !(wmax >= wmin) || !std::isfinite(wmin) ||
      !std::isfinite(wmax)) {
    refuse("expected wmin <= wmax and a step > 0 (Angstrom)");
  }
  if ((wmax - wmin) / dw > kMostBins) {
    refuse(print("%.3g bins, expected at most %.0f", (wmax - wmin) / dw, kMostBins));
  }
  if (wmax > wmin && dw > wmax - wmin) refuse("the step is wider than the range");
  // numpy.arange(wmin, wmax + dw/2, dw), as the peers have it
  const auto n = static_cast<std::size_t>(std::ceil((wmax + 0.5 * dw - wmin) / dw));
  std::vector<double> wave(n);
  for (std::size_t i = 0; i < n; ++i) wave[i] = wmin + static_cast<double>(i) * dw;
  return wave;
}

std::vector<double> bin_widths(const std::vector<double>& wave) {
  const std::size_t n = wave.size();
  std::vector<double> width(n, 1.0);
  if (n < 2) return width;
  width.front() = wave[1] - wave[0];
  width.back() = wave[n - 1] - wave[n - 2];
  for (std::size_t i = 1; i + 1 < n; ++i) {
    width[i] = 0.5 * (wave[i + 1] - wave[i - 1]);
  }
  return width;
}

}  // namespace fiberloom
