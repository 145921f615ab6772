// SPDX-License-Identifier: BSD-3-Clause
// One pass over the frame for each figure.
#include "fiberloom/recipes/report/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "loom/base/median.hpp"

namespace fiberloom::report {
namespace {

constexpr double kPullRange = 6;
constexpr std::size_t kPullBins = 240;
constexpr double kGaussLow = 0.158655, kGaussHigh = 0.841345;  // -1 and +1 sigma

}  // namespace

Histogram pull_histogram() { return {-kPullRange, kPullRange, kPullBins}; }

double upper_third(const double* values, std::size_t n) {
  std::vector<double> positive;  // not rounded: equal values must reach it
  for (std::size_t i = 0; i < n; ++i) {
    if (values[i] > 0 && std::isfinite(values[i])) positive.push_back(values[i]);
  }
  if (positive.empty()) return std::numeric_limits<double>::infinity();
  const auto at = positive.begin() + static_cast<std::ptrdiff_t>(2 * positive.size() / 3);
  std::nth_element(positive.begin(), at, positive.end());
  return *at;
}

Array2D<std::uint8_t> bin_flags(const Spectra& frame) {
  Array2D<std::uint8_t> out(frame.flux.rows(), frame.flux.cols(), 0);
  constexpr std::uint32_t kKnown = kSomeBadPix | kAllBadPix | kBad2dFit;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::uint32_t mask = frame.mask.empty() ? 0 : frame.mask.data()[i];
    const double flux = frame.flux.data()[i], ivar = frame.ivar.data()[i];
    int flags = 0;
    if ((mask & kSomeBadPix) != 0) flags |= kFlagSomeBad;
    if ((mask & kAllBadPix) != 0) flags |= kFlagAllBad;
    if ((mask & kBad2dFit) != 0) flags |= kFlagBadFit;
    if ((mask & ~kKnown) != 0) flags |= kFlagOther;
    if (!(ivar > 0) || !std::isfinite(ivar) || !std::isfinite(flux)) flags |= kFlagNoIvar;
    out.data()[i] = static_cast<std::uint8_t>(flags);
  }
  return out;
}

Histogram::Histogram(double low, double high, std::size_t bins)
    : low_(low), high_(high), counts_(bins, 0) {}

void Histogram::add(double value) noexcept {
  if (!(value >= low_)) {
    ++below_;
    return;
  }
  const double place = (value - low_) / (high_ - low_) * static_cast<double>(counts_.size());
  if (place >= static_cast<double>(counts_.size())) {
    ++above_;
  } else {
    ++counts_[static_cast<std::size_t>(place)];
  }
}

std::uint64_t Histogram::size() const noexcept {
  return std::accumulate(counts_.begin(), counts_.end(), below_ + above_);
}

double Histogram::quantile(double part) const noexcept {
  double left = part * static_cast<double>(size()) - static_cast<double>(below_);
  if (left < 0) return low_;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    const auto n = static_cast<double>(counts_[i]);
    if (left < n) {
      return low_ + (high_ - low_) * (static_cast<double>(i) + left / n) /
                        static_cast<double>(counts_.size());
    }
    left -= n;
  }
  return high_;
}

double Histogram::core_width() const noexcept {
  return 0.5 * (quantile(kGaussHigh) - quantile(kGaussLow));
}

Histogram ivar_histogram(const Spectra& frame) {
  Histogram wide(-20, 20, 4000);  // decades, to find the range
  const auto add_all = [&](Histogram& histogram) {
    for (std::size_t i = 0; i < frame.ivar.size(); ++i) {
      const double v = frame.ivar.data()[i];
      if (v > 0 && std::isfinite(v)) histogram.add(std::log10(v));
    }
  };
  add_all(wide);
  if (wide.size() == 0) return {0, 1, 1};
  const double low = std::floor(10 * wide.quantile(0.002)) / 10;
  Histogram out(low, std::floor(10 * wide.quantile(0.9999) + 2) / 10, 120);
  add_all(out);
  return out;
}

Histogram neighbour_pulls(const Spectra& frame, const Array2D<std::uint8_t>& flags) {
  Histogram out = pull_histogram();
  for (std::size_t s = 0; s < flags.rows(); ++s) {
    const double* f = frame.flux.row(s);
    const double* w = frame.ivar.row(s);
    const double quiet = upper_third(w, flags.cols());
    for (std::size_t j = 1; j + 1 < flags.cols(); ++j) {
      if ((flags(s, j - 1) | flags(s, j) | flags(s, j + 1)) != 0) continue;
      if (std::min({w[j - 1], w[j], w[j + 1]}) < quiet) continue;
      const double variance = 1 / w[j] + 0.25 * (1 / w[j - 1] + 1 / w[j + 1]);
      out.add((f[j] - 0.5 * (f[j - 1] + f[j + 1])) / std::sqrt(variance));
    }
  }
  return out;
}

Histogram pixel_pulls(const Array2D<float>& residual, const Array2D<float>& model,
                      const Array2D<float>& ivar) {
  Histogram out = pull_histogram();
  for (std::size_t i = 0; i < residual.size(); ++i) {
    const double w = ivar.data()[i], r = residual.data()[i];
    if (!(w > 0) || model.data()[i] == 0.0F || !std::isfinite(r)) continue;
    out.add(r * std::sqrt(w));
  }
  return out;
}

Histogram truth_pulls(const Spectra& frame, const Array2D<std::uint8_t>& flags,
                      const Array2D<double>& expected) {
  Histogram out = pull_histogram();
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (flags.data()[i] != 0 || !std::isfinite(expected.data()[i])) continue;
    out.add((frame.flux.data()[i] - expected.data()[i]) * std::sqrt(frame.ivar.data()[i]));
  }
  return out;
}

double fit_sigma(const std::vector<double>& row) {
  constexpr double kBad = std::numeric_limits<double>::quiet_NaN();
  const double middle = static_cast<double>(row.size() / 2);
  double a = *std::max_element(row.begin(), row.end()), m = 0, s = 1;
  const double top = a;
  const auto seen = std::count_if(row.begin(), row.end(), [&](double v) { return v > 0.01 * top; });
  if (!(a > 0) || seen < 3) return kBad;                 // one bin alone has no width
  for (int iteration = 0; iteration < 8; ++iteration) {  // Gauss-Newton for (a, m, s)
    double n[6] = {0, 0, 0, 0, 0, 0}, y[3] = {0, 0, 0};  // upper triangle of J^T J, and J^T r
    for (std::size_t k = 0; k < row.size(); ++k) {
      const double u = (static_cast<double>(k) - middle - m) / s;
      const double g = std::exp(-0.5 * u * u);
      const double d[3] = {g, a * g * u / s, a * g * u * u / s};
      const double r = row[k] - a * g;
      for (int i = 0; i < 3; ++i) y[i] += d[i] * r;
      n[0] += d[0] * d[0], n[1] += d[0] * d[1], n[2] += d[0] * d[2];
      n[3] += d[1] * d[1], n[4] += d[1] * d[2], n[5] += d[2] * d[2];
    }
    const double c0 = n[3] * n[5] - n[4] * n[4], c1 = n[2] * n[4] - n[1] * n[5],
                 c2 = n[1] * n[4] - n[2] * n[3];
    const double determinant = n[0] * c0 + n[1] * c1 + n[2] * c2;
    if (!(std::abs(determinant) > 0)) return kBad;
    const double da = (c0 * y[0] + c1 * y[1] + c2 * y[2]) / determinant;
    const double dm =
        (c1 * y[0] + (n[0] * n[5] - n[2] * n[2]) * y[1] + (n[1] * n[2] - n[0] * n[4]) * y[2]) /
        determinant;
    const double ds =
        (c2 * y[0] + (n[1] * n[2] - n[0] * n[4]) * y[1] + (n[0] * n[3] - n[1] * n[1]) * y[2]) /
        determinant;
    a += da;
    m += std::clamp(dm, -1.0, 1.0);
    s += std::clamp(ds, -0.5 * s, s);
    if (std::abs(ds) < 1e-4 * s && std::abs(dm) < 1e-4) break;
  }
  const bool good =
      std::isfinite(s) && s > 0.2 && s < static_cast<double>(row.size()) && std::abs(m) < middle;
  return good ? s : kBad;
}

Array2D<float> resolution_sigma(const Spectra& frame, const Array2D<std::uint8_t>& flags,
                                std::size_t stride) {
  const Array3D<float>& r = frame.resolution;
  const std::size_t n = flags.cols(), half = r.rows() / 2;
  Array2D<float> out(flags.rows(), (n + stride - 1) / stride,
                     std::numeric_limits<float>::quiet_NaN());
  std::vector<double> row(r.rows());
  for (std::size_t s = 0; s < out.rows(); ++s) {
    for (std::size_t b = 0; b < out.cols(); ++b) {
      const std::size_t i = std::min(b * stride + stride / 2, n - 1);
      if (i < half || i + half >= n || (flags(s, i) & kUnusable) != 0) continue;  // row cut off
      // Row i of R, column j = i - half + q, lies on the diagonal k with i = j - half + k.
      for (std::size_t q = 0; q < row.size(); ++q) {
        row[q] = r(s, row.size() - 1 - q, i - half + q);
      }
      out(s, b) = static_cast<float>(fit_sigma(row));
    }
  }
  return out;
}

double median(std::vector<float>& values) { return upper_median(values); }

std::vector<BundleStatistics> bundle_statistics(const FrameFile& frame,
                                                const Array2D<std::uint8_t>& flags,
                                                std::int64_t first_fiber,
                                                std::int64_t bundle_size) {
  std::vector<BundleStatistics> out;
  std::vector<float> snr, chi2;
  for (std::size_t s = 0; s < flags.rows(); ++s) {
    const std::int64_t fiber = first_fiber + static_cast<std::int64_t>(s);
    if (out.empty() || fiber % bundle_size == 0) {
      out.push_back({});
      out.back().first_row = s;
      snr.clear();
      chi2.clear();
    }
    BundleStatistics& b = out.back();
    ++b.rows;
    b.bins += flags.cols();
    for (std::size_t j = 0; j < flags.cols(); ++j) {
      const std::uint8_t f = flags(s, j);
      b.some_bad += (f & kFlagSomeBad) != 0;
      b.all_bad += (f & kFlagAllBad) != 0;
      b.bad_fit += (f & kFlagBadFit) != 0;
      b.no_ivar += (f & kFlagNoIvar) != 0;
      if ((f & kUnusable) != 0) continue;
      snr.push_back(static_cast<float>(frame.flux(s, j) * std::sqrt(frame.ivar(s, j))));
      if (!frame.chi2pix.empty() && std::isfinite(frame.chi2pix(s, j))) {
        chi2.push_back(static_cast<float>(frame.chi2pix(s, j)));
      }
    }
    if (s + 1 == flags.rows() || (fiber + 1) % bundle_size == 0) {
      b.median_snr = median(snr);
      b.median_chi2 = median(chi2);
    }
  }
  return out;
}

std::vector<BadRun> bad_runs(const Array2D<std::uint8_t>& flags) {
  std::vector<BadRun> out;
  for (std::size_t s = 0; s < flags.rows(); ++s) {
    for (std::size_t j = 0; j < flags.cols(); ++j) {
      if (flags(s, j) == 0) continue;
      const std::size_t first = j;
      while (j + 1 < flags.cols() && flags(s, j + 1) == flags(s, first)) ++j;
      out.push_back({s, first, j, flags(s, first)});
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const BadRun& a, const BadRun& b) { return a.bins() > b.bins(); });
  return out;
}

}  // namespace fiberloom::report
