// SPDX-License-Identifier: BSD-3-Clause
#include "loom/fft/toeplitz.hpp"

#include <algorithm>
#include <utility>

namespace loom::fft {
namespace {

constexpr std::size_t kLines = kBatch<double>, kOne = kElement<double>;  // of an element
constexpr std::size_t kLeastLength = 64;

/// Four times the reach: half of each piece is what the next one has as well, then less.
std::size_t piece_length(std::size_t lags) {
  std::size_t length = kLeastLength;
  while (length < 4 * lags) length *= 2;
  return length;
}

}  // namespace

ToeplitzFilter::ToeplitzFilter(std::vector<double> lags)
    : lags_(std::move(lags)),
      there_(piece_length(lags_.size()), Sign::kMinus),
      back_(piece_length(lags_.size()), Sign::kPlus) {
  const std::size_t n = there_.length();
  std::vector<double> in(n * kOne, 0.0), work(there_.work_size());
  for (std::size_t k = 0; k < lags_.size(); ++k) {
    in[k * kOne] = lags_[k];
    if (k > 0) in[(n - k) * kOne] = lags_[k];
  }
  const double* const found = there_.run(in.data(), 1, n, work.data());
  spectrum_.resize(n);
  for (std::size_t k = 0; k < n; ++k) spectrum_[k] = found[k * kOne] / static_cast<double>(n);
}

std::size_t ToeplitzFilter::work_bytes(std::size_t lags) noexcept {
  return 5 * piece_length(lags) * kOne * sizeof(double);  // pieces, and work of two transforms
}

void ToeplitzFilter::apply(std::span<const double> x, std::span<double> y,
                           ToeplitzWork& work) const {
  if (lags_.size() == 1) {  // white
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = lags_[0] * x[i];
    return;
  }
  const std::size_t n = there_.length(), reach = lags_.size() - 1, step = n - 2 * reach;
  const std::size_t pieces = (x.size() + step - 1) / step;
  if (work.in.size() < n * kOne) work.in = Buffer<double>(n * kOne);
  const std::size_t most = there_.work_size() + back_.work_size();
  if (work.work.size() < most) work.work = Buffer<double>(most);
  double* const in = work.in.data();
  for (std::size_t first = 0; first < pieces; first += 2 * kLines) {
    const std::size_t count = std::min(2 * kLines, pieces - first);
    for (std::size_t p = 0; p < 2 * kLines; ++p) {  // sample j of piece p is x[p step + j - reach]
      const std::size_t from = (first + p) * step;
      std::size_t begin = n, end = n;
      if (p < count) {
        begin = from < reach ? reach - from : 0;
        end = std::clamp(x.size() + reach - std::min(from, x.size() + reach), begin, n);
      }
      for (std::size_t j = 0; j < n; ++j) {
        in[j * kOne + p] = j >= begin && j < end ? x[from + j - reach] : 0;
      }
    }
    double* const spectrum = there_.run(in, 1, n, work.work.data());
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t lane = 0; lane < kOne; ++lane) {
        spectrum[k * kOne + lane] *= spectrum_[k];
      }
    }
    const double* const out = back_.run(spectrum, 1, n, work.work.data() + there_.work_size());
    for (std::size_t p = 0; p < count; ++p) {
      const std::size_t from = (first + p) * step;
      const std::size_t end = std::min(step, y.size() - from);
      for (std::size_t j = 0; j < end; ++j) y[from + j] = out[(j + reach) * kOne + p];
    }
  }
}

}  // namespace loom::fft
