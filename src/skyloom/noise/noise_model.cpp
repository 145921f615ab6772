// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/noise/noise_model.hpp"

#include <algorithm>
#include <cmath>

#include "loom/base/print.hpp"
#include "skyloom/status.hpp"

namespace skyloom {
namespace {

constexpr double kLowestHz = 1e-9, kRatio = 1.4;  // a high-pass of 30 years lies above the first

[[noreturn]] void refuse(const std::string& name, const std::string& what) {
  throw Error(kNoiseModel, "noise of " + name + ": " + what);
}

void check_model(const NoisePsd& model, double rate_hz, double step_hz, const std::string& name) {
  check_spectrum(model, name);
  if (model.frequency_hz.front() > step_hz) {
    refuse(name, print("begins at %g Hz: expected %g Hz or less, for a stream of this length",
                       model.frequency_hz.front(), step_hz));
  }
  if (std::fabs(model.frequency_hz.back() / (rate_hz / 2) - 1) > 0.01) {
    refuse(name, print("ends at %g Hz: expected half the sampling rate, %g Hz",
                       model.frequency_hz.back(), rate_hz / 2));
  }
}

}  // namespace

void check_spectrum(const NoisePsd& model, const std::string& name) {
  const std::size_t n = model.frequency_hz.size();
  if (n < 2 || model.psd.size() != n)
    refuse(name, "expected as many values as frequencies, 2 and more");
  for (std::size_t i = 0; i < n; ++i) {
    if (!(model.psd[i] >= 0) || !std::isfinite(model.psd[i])) {
      refuse(name, print("a spectrum of %g at %g Hz: expected 0 or more", model.psd[i],
                         model.frequency_hz[i]));
    }
    if (!(model.frequency_hz[i] >= (i == 0 ? 0 : model.frequency_hz[i - 1]))) {
      refuse(name, "frequencies that do not grow");
    }
  }
  if (!(model.frequency_hz.back() > 0)) refuse(name, "no frequency above 0");
  if (std::all_of(model.psd.begin(), model.psd.end(), [](double p) { return p == 0; })) {
    refuse(name, "a spectrum of nothing but 0");
  }
}

NoisePsd analytic_psd(const DetectorNoise& noise, double rate_hz, const std::string& name) {
  if (!is_sound_net(noise.net) || !(rate_hz > 0) || !(noise.fmin_hz >= 0) ||
      !(noise.fknee_hz >= 0) || !(noise.slope >= 0) ||
      (noise.fknee_hz > 0 && noise.fknee_hz < noise.fmin_hz)) {
    refuse(name, print("NET %g, rate %g Hz, fmin %g Hz, fknee %g Hz, slope %g: expected NET from "
                       "%g to %g, rate above 0, nothing below, and fknee 0 or not below fmin",
                       noise.net, rate_hz, noise.fmin_hz, noise.fknee_hz, noise.slope, kLeastNet,
                       kMostNet));
  }
  NoisePsd model;
  for (double f = kLowestHz; f < rate_hz / 2; f *= kRatio) model.frequency_hz.push_back(f);
  model.frequency_hz.push_back(rate_hz / 2);
  const double knee = std::pow(noise.fknee_hz, noise.slope);
  const double least = std::pow(noise.fmin_hz, noise.slope);
  for (const double f : model.frequency_hz) {
    const double here = std::pow(f, noise.slope);
    const double shape = noise.fknee_hz > 0 ? (here + knee) / (here + least) : 1;
    model.psd.push_back(shape * (noise.net * noise.net));
  }
  return model;
}

double sample_weight(const Detector& detector, double rate_hz) noexcept {
  const double net = detector.noise.net;
  return net > 0 ? 1 / (net * net + detector.common_psd) / rate_hz : 0;
}

std::vector<double> stream_amplitudes(const NoisePsd& model, double rate_hz, std::size_t length,
                                      const std::string& name) {
  const double step = rate_hz / static_cast<double>(length - 1);
  check_model(model, rate_hz, step, name);
  const double norm = rate_hz * static_cast<double>(length / 2);
  double least = 0;
  for (const double p : model.psd) {
    if (p > 0 && (least == 0 || p < least)) least = p;
  }
  const double shift = 0.01 * least;
  const std::size_t n = model.psd.size();
  std::vector<double> at(n), value(n);
  for (std::size_t i = 0; i < n; ++i) {
    at[i] = std::log10(model.frequency_hz[i] + step);
    value[i] = std::log10(std::sqrt(model.psd[i] * norm) + shift);
  }
  std::vector<double> out(length / 2 + 1);
  std::size_t part = 0;
  for (std::size_t k = 1; k < out.size(); ++k) {
    const double x = std::log10(static_cast<double>(k) * step + step);
    while (part + 2 < n && at[part + 1] <= x) ++part;
    const double slope = (value[part + 1] - value[part]) / (at[part + 1] - at[part]);
    out[k] = std::pow(10.0, value[part] + slope * (x - at[part])) - shift;
  }
  return out;
}

}  // namespace skyloom
