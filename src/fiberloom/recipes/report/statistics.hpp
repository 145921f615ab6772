// SPDX-License-Identifier: BSD-3-Clause
// What a report says about a frame in numbers: histograms, resolution widths, bundles, bad bins.
// Arrays in, numbers out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fiberloom/formats/formats.hpp"

namespace fiberloom::report {

/// What a bin is, as the page shades it. Bits 0 to 2 are those of MASK under small numbers.
enum BinFlag : std::uint8_t {
  kFlagSomeBad = 1,
  kFlagAllBad = 2,
  kFlagBadFit = 4,
  kFlagOther = 8,    ///< any other bit of MASK
  kFlagNoIvar = 16,  ///< ivar not positive, or flux or ivar not finite
};
constexpr std::uint8_t kUnusable = kFlagAllBad | kFlagNoIvar;
[[nodiscard]] Array2D<std::uint8_t> bin_flags(const Spectra& frame);

/// Equal bins from low to high, and moments of all that was added.
class Histogram {
 public:
  Histogram(double low, double high, std::size_t bins);
  void add(double value) noexcept;
  [[nodiscard]] const std::vector<std::uint64_t>& counts() const noexcept { return counts_; }
  [[nodiscard]] std::uint64_t below() const noexcept { return below_; }
  [[nodiscard]] std::uint64_t above() const noexcept { return above_; }
  [[nodiscard]] std::uint64_t size() const noexcept;
  [[nodiscard]] double low() const noexcept { return low_; }
  [[nodiscard]] double high() const noexcept { return high_; }
  /// Where the given part (0 to 1) of the values lies below, interpolated within a bin; low() or
  /// high() where that is outside.
  [[nodiscard]] double quantile(double part) const noexcept;
  /// Half the distance of the quantiles at -1 and +1 sigma: 1 for a unit Gaussian, whatever its
  /// tails.
  [[nodiscard]] double core_width() const noexcept;

 private:
  double low_, high_;
  std::vector<std::uint64_t> counts_;
  std::uint64_t below_ = 0, above_ = 0;
};

/// Of pulls: -6 to 6 in 240 bins.
[[nodiscard]] Histogram pull_histogram();

/// The value that a third of the positive ones reach or exceed; infinite where there are none.
[[nodiscard]] double upper_third(const double* values, std::size_t n);

/// log10 of ivar where it is positive, over the range of all but a few of the lowest.
[[nodiscard]] Histogram ivar_histogram(const Spectra& frame);

/// (f_j - (f_(j-1) + f_(j+1)) / 2) / its sigma (bins of a frame are uncorrelated) over unflagged
/// bins whose sigma is in the lowest third of their fibre's: away from bright lines, whose shape
/// would swamp the noise.
[[nodiscard]] Histogram neighbour_pulls(const Spectra& frame, const Array2D<std::uint8_t>& flags);

/// (image - model) sqrt(ivar) of the pixels on which the model puts light.
[[nodiscard]] Histogram pixel_pulls(const Array2D<float>& residual, const Array2D<float>& model,
                                    const Array2D<float>& ivar);

/// (flux - expected) sqrt(ivar) of good bins; NaN of `expected` is left out.
[[nodiscard]] Histogram truth_pulls(const Spectra& frame, const Array2D<std::uint8_t>& flags,
                                    const Array2D<double>& expected);

/// Sigma of the Gaussian that fits row (j * stride + stride / 2) of R best, in bins; NaN where a
/// bin has no information or the fit fails. [nspec][ceil(nwave / stride)]
[[nodiscard]] Array2D<float> resolution_sigma(const Spectra& frame,
                                              const Array2D<std::uint8_t>& flags,
                                              std::size_t stride);

/// Least squares of A exp(-(k - m)^2 / (2 s^2)) to `row`, k counted from its middle: s, or NaN.
[[nodiscard]] double fit_sigma(const std::vector<double>& row);

/// One bundle's bins.
struct BundleStatistics {
  std::size_t first_row = 0, rows = 0, bins = 0;
  std::size_t some_bad = 0, all_bad = 0, bad_fit = 0, no_ivar = 0;
  double median_snr = 0, median_chi2 = 0;  ///< over bins with information; 0 where unknown
};
/// Rows by fibre index / bundle_size, the index of row 0 being `first_fiber`.
[[nodiscard]] std::vector<BundleStatistics> bundle_statistics(const FrameFile& frame,
                                                              const Array2D<std::uint8_t>& flags,
                                                              std::int64_t first_fiber,
                                                              std::int64_t bundle_size);

/// Bins first to last of one fibre that have the same flags.
struct BadRun {
  std::size_t row = 0, first = 0, last = 0;
  std::uint8_t flags = 0;
  [[nodiscard]] std::size_t bins() const noexcept { return last - first + 1; }
};
/// All runs, longest first; the same length in order of fibre and wavelength.
[[nodiscard]] std::vector<BadRun> bad_runs(const Array2D<std::uint8_t>& flags);

/// The middle value, 0 of none. Reorders `values`.
[[nodiscard]] double median(std::vector<float>& values);

}  // namespace fiberloom::report
