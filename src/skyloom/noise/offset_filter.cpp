// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/noise/offset_filter.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "skyloom/noise/spectrum_lags.hpp"
#include "skyloom/status.hpp"

namespace skyloom {
namespace {

constexpr int kTerms = 5;             // of the sum over m, on either side
constexpr std::size_t kKnots = 1000;  // of P_a, even in its logarithm
constexpr double kLeastLag = 1e-4;    // of the first one
constexpr double kFloor = 1e-10;      // of the largest value of a spectrum

/// The white level: a line through the logarithms of the upper fifth, at its end.
double white_level(const NoisePsd& model) {
  const std::size_t n = model.psd.size();
  std::size_t first = n * 4 / 5;
  if (n - first < 10) first = n < 10 ? 0 : n - 10;
  double sx = 0, sy = 0, sxx = 0, sxy = 0, count = 0;
  for (std::size_t i = first; i < n; ++i) {
    if (!(model.frequency_hz[i] > 0) || !(model.psd[i] > 0)) continue;
    const double x = std::log(model.frequency_hz[i]), y = std::log(model.psd[i]);
    sx += x, sy += y, sxx += x * x, sxy += x * y, count += 1;
  }
  if (count == 0) return 0;
  const double spread = count * sxx - sx * sx;
  const double slope = spread > 0 ? (count * sxy - sx * sy) / spread : 0;
  const double end = std::log(model.frequency_hz.back());
  return std::exp(sy / count + slope * (end - sx / count));
}

/// The spectrum without its white part; empty where nothing is left.
std::vector<double> correlated_part(const NoisePsd& model) {
  const double white = white_level(model);
  const double largest = *std::max_element(model.psd.begin(), model.psd.end());
  if (!(largest - white > 1e-6 * largest)) return {};
  std::vector<double> out = model.psd;
  for (double& value : out) value = std::max(value - white, kFloor * largest);
  return out;
}

double sinc_squared(double x) {
  if (std::fabs(x) < 1e-30) return 1;
  const double s = std::sin(x) / x;
  return s * s;
}

std::vector<double> knots(double rate_hz, double step_s, std::size_t offsets) {
  const double length = step_s * static_cast<double>(offsets);
  const double low = std::floor(std::log10(1 / length)) - 1;
  const double high = std::min(std::ceil(std::log10(1 / step_s)) + 2, std::log10(rate_hz));
  std::vector<double> out(kKnots);
  for (std::size_t i = 0; i < kKnots; ++i) {
    out[i] = std::pow(10.0, low + (high - low) * static_cast<double>(i) / (kKnots - 1));
  }
  return out;
}

}  // namespace

std::vector<double> offset_psd(const NoisePsd& model, double step_s,
                               const std::vector<double>& frequencies) {
  const std::vector<double> part = correlated_part(model);
  if (part.empty()) return {};
  const LogCurve curve(model.frequency_hz, part);
  std::vector<double> out;
  out.reserve(frequencies.size());
  for (const double f : frequencies) {
    double sum = 0;
    for (int m = -(kTerms - 1); m < kTerms; ++m) {
      const double at = f + m / step_s;
      sum += curve(at) * sinc_squared(std::numbers::pi * step_s * at);
    }
    out.push_back(sum / step_s);
  }
  return out;
}

std::vector<double> offset_filter(const NoisePsd& model, double rate_hz, double step_s,
                                  std::size_t offsets, const std::string& name) {
  check_spectrum(model, name);
  if (offsets < 2) return {};
  const std::vector<double> at = knots(rate_hz, step_s, offsets);
  std::vector<double> psd = offset_psd(model, step_s, at);
  if (psd.empty()) return {};
  for (double& value : psd) value = 1 / value;
  const LogCurve inverse(at, psd);
  std::size_t length = 2;
  while (length < 2 * offsets) length *= 2;
  std::vector<double> half(length / 2 + 1);
  for (std::size_t k = 0; k < half.size(); ++k) {
    half[k] = inverse(static_cast<double>(k) / (static_cast<double>(length) * step_s));
  }
  std::vector<double> lags = lags_of_spectrum(half, length);
  if (!(lags[0] > 0) || !std::isfinite(lags[0])) {
    throw Error(kNoiseModel, "noise of " + name + ": no prior for offsets can be made of it");
  }
  std::size_t last = 0;
  for (std::size_t k = 0; k < lags.size(); ++k) {
    if (std::fabs(lags[k]) > kLeastLag * lags[0]) last = k;
  }
  lags.resize(std::min(lags.size(), (last % 2 == 0 ? last + 1 : last) + 1));
  return lags;
}

}  // namespace skyloom
