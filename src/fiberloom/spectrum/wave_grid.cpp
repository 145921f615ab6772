// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/spectrum/wave_grid.hpp"

#include <algorithm>
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

std::vector<double> log10_wave_grid(double wmin, double wmax, double step) {
  const auto refuse = [&](const std::string& why) {
    throw Error(Status::kUsage,
                print("wavelength grid %.10g,%.10g,%.10g in log10: ", wmin, wmax, step) + why);
  };
  if (!(wmin > 0) || !(wmax >= wmin) || !std::isfinite(wmax) || !(step > 0))
    refuse("expected 0 < wmin <= wmax (Angstrom) and a step > 0 (of log10)");
  const double first = std::log10(wmin), range = std::log10(wmax) - first;
  constexpr double kMostBins = 1e6;
  if (range / step > kMostBins)
    refuse(print("%.3g bins, expected at most %.0f", range / step, kMostBins));
  if (wmax > wmin && step > range) refuse("the step is wider than the range");
  const auto n = static_cast<std::size_t>(std::ceil((range + 0.5 * step) / step));
  std::vector<double> wave(n);
  for (std::size_t i = 0; i < n; ++i)
    wave[i] = wmin * std::pow(10.0, static_cast<double>(i) * step);
  return wave;
}

double finest_step(std::span<const double> wave) {
  double step = wave.size() > 1 ? wave[1] - wave[0] : 1.0;
  for (std::size_t j = 2; j < wave.size(); ++j) step = std::min(step, wave[j] - wave[j - 1]);
  return step;
}

void check_grid(const SteppedGrid& grid) {
  const auto refuse = [](const std::string& why) { throw Error(Status::kUsage, why); };
  if (grid.lin_step && grid.log10_step) refuse("--lin-step, --log10-step: expected one of them");
  if (!grid.wanted()) {
    if (grid.wave_min) refuse("--wave-min goes with --lin-step or --log10-step");
    if (grid.wave_max) refuse("--wave-max goes with --lin-step or --log10-step");
    return;
  }
  const auto positive = [&](const char* name, const std::optional<double>& x) {
    if (x && (!(*x > 0) || !std::isfinite(*x))) {
      refuse(print("%s %.10g: expected a number above 0", name, *x));
    }
  };
  positive("--lin-step", grid.lin_step);
  positive("--log10-step", grid.log10_step);
  positive("--wave-min", grid.wave_min);
  positive("--wave-max", grid.wave_max);
  if (grid.wave_min && grid.wave_max && !(*grid.wave_min < *grid.wave_max)) {
    refuse(print("--wave-min %.10g, --wave-max %.10g: expected a range", *grid.wave_min,
                 *grid.wave_max));
  }
}

std::vector<double> stepped_wave_grid(const SteppedGrid& grid, double first, double last) {
  constexpr double kMostBins = 1e6;
  constexpr double kSlack = 1e-6;  // of a step: (9824 - 3600) / 0.8 may be a hair below 7780
  check_grid(grid);
  const double wmin = grid.wave_min.value_or(first), wmax = grid.wave_max.value_or(last);
  const auto range = print("%.10g to %.10g Angstrom", wmin, wmax);
  if (!(wmin < wmax) || wmin >= last || wmax <= first) {
    throw Error(Status::kUsage, print("wavelength grid from %s: expected one that the data touch, "
                                      "from %.10g to %.10g",
                                      range.c_str(), first, last));
  }
  const bool linear = grid.lin_step.has_value();
  const double step = linear ? *grid.lin_step : grid.log10_step.value_or(0);
  const double begin = linear ? wmin : std::log10(wmin);
  const double bins = std::floor(((linear ? wmax : std::log10(wmax)) - begin) / step + kSlack) + 1;
  if (!(bins >= 2 && bins <= kMostBins)) {
    throw Error(Status::kUsage,
                print("wavelength grid from %s in steps of %.10g: %.6g bins, expected 2 to %.0f",
                      range.c_str(), step, bins, kMostBins));
  }
  std::vector<double> wave(static_cast<std::size_t>(bins));
  for (std::size_t i = 0; i < wave.size(); ++i) {
    const double x = begin + static_cast<double>(i) * step;
    wave[i] = linear ? x : std::pow(10.0, x);
  }
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
