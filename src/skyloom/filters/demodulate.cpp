// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/filters/demodulate.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "skyloom/good_sample.hpp"

namespace skyloom {
namespace {

constexpr double kPeriods = 10;         // of the frequency that a filter is to know
constexpr double kModulation = 4;       // turns of polarisation in a turn of the plate
constexpr std::size_t kLeastTurn = 16;  // samples around a gap: more than there are templates
constexpr int kWidenings = 4;  // of what is looked at around a gap, twice as wide each time

double sinc(double x) {
  const double turned = std::numbers::pi * x;
  return x == 0 ? 1 : std::sin(turned) / turned;
}

std::vector<double> low_pass_of(const DemodulationOptions& options, double turns) {
  const double cut = options.cut * turns;
  return filter_taps(0, cut, filter_length(cut));
}

std::vector<double> band_pass_of(const DemodulationOptions& options, double turns) {
  const double low = (kModulation - options.cut) * turns;
  return filter_taps(low, (kModulation + options.cut) * turns, filter_length(low));
}

/// [first, end) of samples that take no part, one after the other.
template <class Use>
void over_gaps(std::size_t n, const auto& is_good, const Use& use) {
  for (std::size_t first = 0; first < n;) {
    if (is_good(first)) {
      ++first;
      continue;
    }
    std::size_t end = first + 1;
    while (end < n && !is_good(end)) ++end;
    use(Stretch{first, end});
    first = end;
  }
}

/// Between the good samples beside it, or as the one that there is.
void fill_evenly(const Stretch& gap, std::span<double> values) {
  const bool before = gap.first > 0, behind = gap.end < values.size();
  const double left = before ? values[gap.first - 1] : (behind ? values[gap.end] : 0);
  const double right = behind ? values[gap.end] : left;
  const auto steps = static_cast<double>(gap.end - gap.first + 1);
  for (std::size_t i = gap.first; i < gap.end; ++i) {
    values[i] = left + (right - left) * static_cast<double>(i - gap.first + 1) / steps;
  }
}

}  // namespace

std::size_t filter_length(double frequency) noexcept {
  std::size_t length = 2;
  while (static_cast<double>(length) < kPeriods / frequency) length *= 2;
  return length - 1;
}

std::vector<double> filter_taps(double low, double high, std::size_t length) {
  const std::size_t reach = (length - 1) / 2;
  const double middle = low > 0 ? 0.5 * (low + high) : 0;
  std::vector<double> out(reach + 1);
  double sum = 0;
  for (std::size_t k = 0; k <= reach; ++k) {
    const auto at = static_cast<double>(k);
    const double window =
        reach == 0 ? 1 : 0.54 + 0.46 * std::cos(std::numbers::pi * at / static_cast<double>(reach));
    out[k] = window * (2 * high * sinc(2 * high * at) - 2 * low * sinc(2 * low * at));
    sum += (k == 0 ? 1 : 2) * out[k] * std::cos(2 * std::numbers::pi * middle * at);
  }
  for (double& tap : out) tap /= sum;
  return out;
}

Demodulator::Demodulator(std::vector<double> low_pass, std::vector<double> band_pass,
                         std::size_t skip)
    : skip_(skip), low_pass_(std::move(low_pass)), band_pass_(std::move(band_pass)) {
  const auto taps = low_pass_.lags();
  const std::size_t reach = taps.size() - 1;
  double sum = 0;
  sums_.push_back(0);
  for (std::size_t k = 0; k <= 2 * reach; ++k) {
    sum += taps[k < reach ? reach - k : k - reach];
    sums_.push_back(sum);
  }
}

Demodulator::Demodulator(const DemodulationOptions& options, double turns)
    : Demodulator(low_pass_of(options, turns), band_pass_of(options, turns), options.skip) {}

void Demodulator::apply(std::span<const double> values, const Carrier& carrier,
                        DemodulationWork& work, const DemodulatedStreams& out) const {
  const std::size_t n = values.size();
  work.band.resize(n);
  work.product.resize(n);
  work.passed.resize(n);
  const auto keep = [&](std::span<const double> of, std::span<double> to) {
    low_pass_.apply(of, work.passed, work.transform);
    for (std::size_t j = 0; j < to.size(); ++j) to[j] = work.passed[j * skip_];
  };
  keep(values, out.slow);
  band_pass_.apply(values, work.band, work.transform);
  const auto demodulate = [&](std::span<const double> by, std::span<double> to) {
    for (std::size_t i = 0; i < n; ++i) work.product[i] = 2 * by[i] * work.band[i];
    keep(work.product, to);
  };
  demodulate(carrier.cosine, out.cosine);
  demodulate(carrier.sine, out.sine);
}

void Demodulator::flag(std::span<const std::uint8_t> flags, std::span<std::uint8_t> out) const {
  const std::size_t n = flags.size(), reach = low_pass_.lags().size() - 1;
  std::vector<double> share(out.size(), 1.0);
  const auto is_good = [&](std::size_t i) { return flags[i] == 0; };
  over_gaps(n, is_good, [&](const Stretch& gap) {
    const std::size_t low = gap.first > reach ? gap.first - reach : 0;
    const std::size_t high = std::min(n, gap.end + reach);  // the samples that see the gap
    for (std::size_t j = (low + skip_ - 1) / skip_; j * skip_ < high; ++j) {
      const std::size_t at = j * skip_;  // its taps begin at sample at - reach
      const std::size_t first = std::max(gap.first + reach, at) - at;
      const std::size_t end = std::min(gap.end + reach - at, 2 * reach + 1);
      share[j] -= sums_[end] - sums_[first];
    }
  });
  for (std::size_t j = 0; j < out.size(); ++j) {
    const std::size_t at = j * skip_;
    const bool ends = at < length() || at + length() >= n;
    out[j] = ends || share[j] < kLeastShare ? 1 : 0;
  }
}

HarmonicTemplate gap_template() { return {.harmonics = 4, .trend = 1}; }

void fill_gaps(const HarmonicFilter& templates, std::size_t turn, std::span<double> values,
               std::span<const std::uint8_t> flags) {
  const std::size_t n = values.size();
  // by what was there before: a gap that is filled is no good sample of the next one
  std::vector<std::uint8_t> bad(n);
  for (std::size_t i = 0; i < n; ++i) bad[i] = takes_part(values[i], flags[i]) ? 0 : 1;
  const auto is_good = [&](std::size_t i) { return bad[i] == 0; };
  over_gaps(n, is_good, [&](const Stretch& gap) {
    std::size_t wide = std::max(turn, kLeastTurn);
    for (int look = 0; look < kWidenings; ++look, wide *= 2) {
      const Stretch around{gap.first > wide ? gap.first - wide : 0, std::min(n, gap.end + wide)};
      const auto first = bad.begin() + static_cast<std::ptrdiff_t>(around.first);
      const auto end = bad.begin() + static_cast<std::ptrdiff_t>(around.end);
      const auto good = static_cast<std::size_t>(std::count(first, end, std::uint8_t{0}));
      // by less than a turn harmonics are told apart by noise alone, and go anywhere in the gap
      if (good >= std::max(turn, kLeastTurn) && templates.fill(around, gap, values, bad)) return;
    }
    fill_evenly(gap, values);
  });
}

}  // namespace skyloom
