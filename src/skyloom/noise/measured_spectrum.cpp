// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/noise/measured_spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "loom/fft/long_plan.hpp"
#include "skyloom/good_sample.hpp"

namespace skyloom {
namespace {

constexpr std::size_t kLeast = 64, kMost = std::size_t{1} << 18;  // samples of a piece
constexpr double kBand = 1.06;                                    // ratio of a band's ends
constexpr double kLeastGood = 0.5;

/// Samples that are left out, on straight lines; false where there is none to begin with.
bool bridge(std::vector<double>& values, const std::vector<bool>& good) {
  const auto first = std::find(good.begin(), good.end(), true);
  if (first == good.end()) return false;
  auto before = static_cast<std::size_t>(first - good.begin());
  std::fill(values.begin(), values.begin() + (first - good.begin()), values[before]);
  for (std::size_t i = before + 1; i < values.size(); ++i) {
    if (!good[i]) continue;
    const double slope = (values[i] - values[before]) / static_cast<double>(i - before);
    for (std::size_t k = before + 1; k < i; ++k) {
      values[k] = values[before] + slope * static_cast<double>(k - before);
    }
    before = i;
  }
  std::fill(values.begin() + static_cast<std::ptrdiff_t>(before), values.end(), values[before]);
  return true;
}

}  // namespace

SpectrumMeter::SpectrumMeter(std::size_t samples, double rate_hz)
    : samples_(samples), rate_hz_(rate_hz) {
  if (samples < 3 * kLeast) return;
  length_ = kLeast;
  while (length_ < kMost && 2 * length_ <= samples / 3) length_ *= 2;
  plan_ = std::make_unique<fft::LongPlan>(length_, fft::Sign::kMinus);
  const auto n = static_cast<double>(length_);
  for (std::size_t i = 0; i < length_; ++i) {
    window_.push_back(0.5 -
                      0.5 * std::cos(2 * std::numbers::pi * (static_cast<double>(i) + 0.5) / n));
  }
  for (std::size_t k = 2; k <= length_ / 2;) {  // the first one knows of the mean
    const auto end = static_cast<std::size_t>(std::ceil(static_cast<double>(k) * kBand));
    const std::size_t next = std::min(std::max(end, k + 1), length_ / 2 + 1);
    edges_.push_back(k);
    frequencies_.push_back(rate_hz / n * 0.5 * static_cast<double>(k + next - 1));
    k = next;
  }
  edges_.push_back(length_ / 2 + 1);
}

SpectrumMeter::~SpectrumMeter() = default;

std::vector<double> SpectrumMeter::measure(std::span<const double> values,
                                           std::span<const std::uint8_t> flags) const {
  if (length_ == 0) return {};
  std::vector<double> whole(values.begin(), values.end());
  std::vector<bool> good(samples_);
  for (std::size_t i = 0; i < samples_; ++i) good[i] = takes_part(values[i], flags[i]);
  if (!bridge(whole, good)) return {};
  std::vector<double> power(edges_.size() - 1, 0.0), re(length_ / 2 + 1), im(re.size());
  std::vector<double> data(2 * length_), work(plan_->work_size());
  double pieces = 0;
  for (std::size_t first = 0; first + length_ <= samples_; first += length_ / 2) {
    double mean = 0, squares = 0, count = 0;
    for (std::size_t i = 0; i < length_; ++i) {
      if (!good[first + i]) continue;
      mean += whole[first + i];
      squares += window_[i] * window_[i];
      count += 1;
    }
    if (count < kLeastGood * static_cast<double>(length_)) continue;
    mean /= count;
    std::fill(data.begin(), data.end(), 0.0);
    for (std::size_t i = 0; i < length_; ++i) {
      data[fft::LongPlan::place(i)] = window_[i] * (whole[first + i] - mean);
    }
    plan_->run(data.data(), work.data());
    plan_->take(data.data(), fft::LongPlan::Part::kReal, 0, re);
    plan_->take(data.data(), fft::LongPlan::Part::kImaginary, 0, im);
    for (std::size_t b = 0; b < power.size(); ++b) {
      double sum = 0;
      for (std::size_t k = edges_[b]; k < edges_[b + 1]; ++k) sum += re[k] * re[k] + im[k] * im[k];
      power[b] += sum / (static_cast<double>(edges_[b + 1] - edges_[b]) * squares * rate_hz_);
    }
    pieces += 1;
  }
  if (pieces == 0) return {};
  for (double& p : power) p /= pieces;
  return power;
}

}  // namespace skyloom
