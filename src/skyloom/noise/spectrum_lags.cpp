// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/noise/spectrum_lags.hpp"

#include <algorithm>
#include <cmath>

#include "loom/fft/long_plan.hpp"

namespace skyloom {
namespace {

constexpr double kZeroHz = 1e-10;  // stands for 0 in logarithms

}  // namespace

LogCurve::LogCurve(const std::vector<double>& x, const std::vector<double>& y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(x[i] > 0)) continue;
    x_.push_back(std::log(x[i]));
    y_.push_back(std::log(y[i]));
  }
}

double LogCurve::operator()(double x) const {
  const double at = std::log(std::max(std::fabs(x), kZeroHz));
  const auto above = std::upper_bound(x_.begin(), x_.end(), at);
  if (above == x_.begin()) return std::exp(y_.front());
  if (above == x_.end()) return std::exp(y_.back());
  const auto i = static_cast<std::size_t>(above - x_.begin());
  const double part = (at - x_[i - 1]) / (x_[i] - x_[i - 1]);
  return std::exp(y_[i - 1] + part * (y_[i] - y_[i - 1]));
}

std::vector<double> lags_of_spectrum(const std::vector<double>& half, std::size_t length) {
  const std::size_t n = std::max<std::size_t>(length, 64), apart = n / length;
  const fft::LongPlan plan(n, fft::Sign::kPlus);
  std::vector<double> data(2 * n, 0.0), work(plan.work_size());
  for (std::size_t k = 0; k < length; ++k) {
    data[fft::LongPlan::place(k * apart)] = half[std::min(k, length - k)];
  }
  plan.run(data.data(), work.data());
  std::vector<double> out(length / 2);
  plan.take(data.data(), fft::LongPlan::Part::kReal, 0, out);
  for (double& x : out) x /= static_cast<double>(length);
  return out;
}

}  // namespace skyloom
