// SPDX-License-Identifier: BSD-3-Clause
// Binning of the truth and the statistics of pulls.
#include "fiberloom/recipes/compare_truth.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>

#include "fiberloom/extract/oversample.hpp"
#include "fiberloom/spectrum/banded.hpp"
#include "fiberloom/spectrum/wave_grid.hpp"
#include "loom/base/error.hpp"

namespace fiberloom {
namespace {

constexpr std::array<double, 5> kBrightness{1, 3, 10, 30, 100};
constexpr double kWide = 1.1;   ///< pulls wider than this ask for a word
constexpr double kFine = 0.75;  ///< a truth with bins below this part of the frame's is a fine one

double mean_step(const std::vector<double>& wave) {
  return wave.size() < 2 ? 0.0
                         : (wave.back() - wave.front()) / static_cast<double>(wave.size() - 1);
}

/// n + 1 edges, half way between the samples.
std::vector<double> edges(const std::vector<double>& wave) {
  const std::size_t n = wave.size();
  std::vector<double> out(n + 1);
  if (n == 1) return {wave[0] - 0.5, wave[0] + 0.5};
  for (std::size_t i = 1; i < n; ++i) out[i] = 0.5 * (wave[i - 1] + wave[i]);
  out[0] = wave[0] - (out[1] - wave[0]);
  out[n] = wave[n - 1] + (wave[n - 1] - out[n - 1]);
  return out;
}

std::vector<TruthComparison::Row> brightness_rows() {
  std::vector<TruthComparison::Row> rows;
  std::string low;
  for (const double limit : kBrightness) {
    const std::string high = std::to_string(static_cast<int>(limit));
    rows.push_back({low.empty() ? "S/N < " + high : "S/N " + low + "-" + high, {}});
    low = high;
  }
  rows.push_back({"S/N > " + low, {}});
  return rows;
}

std::size_t brightness_class(double signal_to_noise) {
  return static_cast<std::size_t>(
      std::upper_bound(kBrightness.begin(), kBrightness.end(), signal_to_noise) -
      kBrightness.begin());
}

std::vector<std::int64_t> numbers_of(const TruthFile& truth) {
  return fiber_numbers(truth.fibermap, HeaderCards{truth.fibermap.notes}, truth.flux.rows());
}

}  // namespace

void PullStatistics::add(double pull) noexcept {
  ++count_;
  sum_ += pull;
  sum2_ += pull * pull;
  beyond_5_ += std::abs(pull) > 5;
}

double PullStatistics::mean() const noexcept {
  return count_ == 0 ? 0.0 : sum_ / static_cast<double>(count_);
}

double PullStatistics::width() const noexcept {
  if (count_ < 2) return 0.0;
  const double m = mean();
  return std::sqrt(std::max(0.0, sum2_ / static_cast<double>(count_) - m * m));
}

std::string width_hint(const TruthComparison& comparison) {
  if (!comparison.fine_truth || comparison.all.pulls.width() < kWide) return {};
  return "hint: the truth's light lies off the centres of the frame's bins, which widens the pulls "
         "where "
         "lines are bright; for statistics simulate with --truth-grid extraction "
         "(docs/fiberloom/simulate.md)";
}

Array2D<double> bin_truth(const TruthFile& truth, const std::vector<double>& wave) {
  const std::size_t nspec = truth.flux.rows(), nfine = truth.wave.size(), nwave = wave.size();
  Array2D<double> out(nspec, nwave, std::numeric_limits<double>::quiet_NaN());
  if (nfine == 0 || nwave == 0) return out;
  const auto fine = edges(truth.wave), coarse = edges(wave);
  std::size_t first = 0;
  for (std::size_t j = 0; j < nwave; ++j) {
    const double lo = coarse[j], hi = coarse[j + 1];
    const double slack = 1e-6 * (hi - lo);
    if (lo < fine.front() - slack || hi > fine.back() + slack) continue;
    while (first + 1 < nfine && fine[first + 1] <= lo) ++first;
    for (std::size_t s = 0; s < nspec; ++s) out(s, j) = 0;
    for (std::size_t k = first; k < nfine && fine[k] < hi; ++k) {
      const double share = (std::min(hi, fine[k + 1]) - std::max(lo, fine[k])) / (hi - lo);
      for (std::size_t s = 0; s < nspec; ++s) out(s, j) += share * truth.flux(s, k);
    }
  }
  return out;
}

namespace {

constexpr int kNodes = 8;

/// Weights of the value at u of the polynomial through the integers from `first` on.
std::array<double, kNodes> lagrange(double u, long first) {
  std::array<double, kNodes> weight{};
  for (int a = 0; a < kNodes; ++a) {
    double product = 1;
    for (int b = 0; b < kNodes; ++b) {
      if (b != a) product *= (u - static_cast<double>(first + b)) / (a - b);
    }
    weight[static_cast<std::size_t>(a)] = product;
  }
  return weight;
}

/// The truth's light, which sits at its samples, on equal bins such that its sum and moments stay:
/// what a smooth response sees of both is the same. Per Angstrom; NaN where the truth does not
/// reach.
Array2D<double> place_truth(const TruthFile& truth, const std::vector<double>& wave) {
  const std::size_t nspec = truth.flux.rows(), n = wave.size();
  Array2D<double> out(nspec, n, std::numeric_limits<double>::quiet_NaN());
  if (n < 2 || truth.wave.size() < 2) return out;
  const double step = (wave.back() - wave.front()) / static_cast<double>(n - 1);
  for (std::size_t j = 0; j < n; ++j) {
    if (wave[j] < truth.wave.front() - step || wave[j] > truth.wave.back() + step) continue;
    for (std::size_t s = 0; s < nspec; ++s) out(s, j) = 0;
  }
  const std::vector<double> width = bin_widths(truth.wave);
  for (std::size_t k = 0; k < truth.wave.size(); ++k) {
    const double u = (truth.wave[k] - wave.front()) / step;
    const long first = static_cast<long>(std::floor(u)) - kNodes / 2 + 1;
    const auto weight = lagrange(u, first);
    for (int a = 0; a < kNodes; ++a) {
      if (first + a < 0 || first + a >= static_cast<long>(n)) continue;
      const auto j = static_cast<std::size_t>(first + a);
      const double share = weight[static_cast<std::size_t>(a)] * width[k] / step;
      for (std::size_t s = 0; s < nspec; ++s) out(s, j) += share * truth.flux(s, k);
    }
  }
  return out;
}

bool has_equal_bins(const std::vector<double>& wave) {
  const std::vector<double> width = bin_widths(wave);
  const auto [least, most] = std::minmax_element(width.begin(), width.end());
  return *most - *least <= 1e-6 * *most;
}

/// y = C x of a matrix whose columns are parts of bins (FrameFile::fine_resolution).
void multiply_fine(const Array3D<float>& c, std::size_t s, std::span<const double> x,
                   std::span<double> y) {
  const std::size_t half = c.rows() / 2, parts = x.size() / y.size();
  std::fill(y.begin(), y.end(), 0.0);
  for (std::size_t d = 0; d < c.rows(); ++d) {
    for (std::size_t k = 0; k < x.size(); ++k) {
      const std::size_t row = k / parts + d;
      if (row >= half && row - half < y.size())
        y[row - half] += static_cast<double>(c(s, d, k)) * x[k];
    }
  }
}

}  // namespace

Array2D<double> expected_flux(const FrameFile& frame, const TruthFile& truth) {
  require_one_grid(frame);
  if (frame.resolution.empty())
    throw Error(Status::kMissingHdu, frame.path + ": no HDU RESOLUTION");
  if (frame.wave.empty()) throw Error(Status::kMissingHdu, frame.path + ": no HDU WAVELENGTH");
  const bool fine = !frame.fine_resolution.empty() && has_equal_bins(frame.wave);
  const auto parts = static_cast<int>(fine ? frame.fine_resolution.cols() / frame.wave.size() : 1);
  const Array2D<double> binned =
      fine ? place_truth(truth, finer_grid(frame.wave, parts)) : bin_truth(truth, frame.wave);
  const auto truth_fibers = numbers_of(truth);
  std::map<std::int64_t, std::size_t> row_of;
  for (std::size_t r = 0; r < truth_fibers.size(); ++r) row_of.emplace(truth_fibers[r], r);
  const auto fibers = fiber_numbers(frame.fibermap, frame.header, frame.flux.rows());
  Array2D<double> out(frame.flux.rows(), frame.wave.size(),
                      std::numeric_limits<double>::quiet_NaN());
  std::size_t common = 0;
  for (std::size_t s = 0; s < out.rows(); ++s) {
    const auto it = row_of.find(fibers[s]);
    if (it == row_of.end()) continue;
    ++common;
    const std::span<const double> bins(binned.row(it->second), binned.cols());
    if (fine) {
      multiply_fine(frame.fine_resolution, s, bins, {out.row(s), out.cols()});
    } else {
      multiply(banded(frame.resolution, s), bins, {out.row(s), out.cols()});
    }
  }
  if (common == 0) {
    throw Error(Status::kWrongShape,
                frame.path + ": shares no fibre with the truth, " + truth.path);
  }
  return out;
}

TruthComparison compare_truth(const FrameFile& frame, const TruthFile& truth,
                              const CompareOptions& options, int bundle_size) {
  const Array2D<double> expected = expected_flux(frame, truth);
  const auto truth_fibers = numbers_of(truth);
  const std::set<std::int64_t> in_truth(truth_fibers.begin(), truth_fibers.end());

  TruthComparison out;
  out.all.name = "all";
  out.by_brightness = brightness_rows();
  out.nwave = frame.wave.size();
  out.fine_truth = mean_step(truth.wave) < kFine * mean_step(frame.wave);
  std::map<std::int64_t, PullStatistics> bundles;
  const std::int64_t size = std::max(bundle_size, 1);
  const auto fibers = fiber_numbers(frame.fibermap, frame.header, frame.flux.rows());
  for (std::size_t s = 0; s < frame.flux.rows(); ++s) {
    if (!in_truth.contains(fibers[s])) continue;
    ++out.nspec;
    for (std::size_t j = 0; j < out.nwave; ++j) {
      const bool masked = !frame.mask.empty() && (frame.mask(s, j) & options.mask_bits) != 0;
      const double ivar = frame.ivar(s, j);
      if (masked || !(ivar > 0) || !std::isfinite(expected(s, j))) {
        ++out.masked;
        continue;
      }
      const double root = std::sqrt(ivar);
      const double pull = (frame.flux(s, j) - expected(s, j)) * root;
      out.all.pulls.add(pull);
      out.by_brightness[brightness_class(expected(s, j) * root)].pulls.add(pull);
      bundles[fibers[s] / size].add(pull);
    }
  }
  for (const auto& [bundle, pulls] : bundles) {
    out.by_bundle.push_back(
        {"fibres " + std::to_string(bundle * size) + "-" + std::to_string(bundle * size + size - 1),
         pulls});
  }
  return out;
}

}  // namespace fiberloom
