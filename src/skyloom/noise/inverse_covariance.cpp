// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/noise/inverse_covariance.hpp"

#include <algorithm>
#include <cmath>

#include "skyloom/noise/spectrum_lags.hpp"
#include "skyloom/status.hpp"

namespace skyloom {
namespace {

constexpr double kLeastShare =
    1e-10;                         // of the largest value of a spectrum: nothing is weighted higher
constexpr std::size_t kFiner = 8;  // times the filter's reach: what comes around is small

/// Parzen's window, 1 at 0 and 0 at 1.
double parzen(double x) noexcept {
  const double rest = 1 - x;
  return x < 0.5 ? 1 - 6 * x * x * rest : 2 * rest * rest * rest;
}

}  // namespace

std::vector<double> inverse_covariance(const NoisePsd& model, double rate_hz, std::size_t reach,
                                       const std::string& name) {
  check_spectrum(model, name);
  const double largest = *std::max_element(model.psd.begin(), model.psd.end());
  std::vector<double> psd = model.psd;
  for (double& value : psd) value = std::max(value, kLeastShare * largest);
  const LogCurve curve(model.frequency_hz, psd);
  std::size_t length = 64;
  while (length < kFiner * (reach + 1)) length *= 2;
  std::vector<double> half(length / 2 + 1);
  for (std::size_t k = 0; k < half.size(); ++k) {
    half[k] = 1 / (curve(static_cast<double>(k) * rate_hz / static_cast<double>(length)) * rate_hz);
  }
  std::vector<double> lags = lags_of_spectrum(half, length);
  lags.resize(reach + 1);
  for (std::size_t k = 0; k < lags.size(); ++k) {
    lags[k] *= parzen(static_cast<double>(k) / static_cast<double>(reach + 1));
  }
  if (!(lags[0] > 0) || !std::isfinite(lags[0])) {
    throw Error(kNoiseModel, "noise of " + name + ": no weights can be made of it");
  }
  return lags;
}

}  // namespace skyloom
