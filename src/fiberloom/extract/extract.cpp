// SPDX-License-Identifier: BSD-3-Clause
// What the engines share: bundles, checks, the spectral mask.
#include "fiberloom/extract/extract.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"
#include "loom/base/median.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {

namespace {

std::string shape(std::size_t rows, std::size_t cols) {
  return std::to_string(cols) + " x " + std::to_string(rows);
}

void require_readnoise(const CcdFrame& ccd) {
  const ReadNoise& noise = ccd.readnoise;
  if (!noise.known()) {
    throw Error(Status::kMissingKeyword,
                "the read noise is not known (RDNOISE of IMAGE, or HDU READNOISE); model variance "
                "and rejection need it");
  }
  const std::size_t rows = noise.by_pixel.rows(), cols = noise.by_pixel.cols();
  if (noise.by_pixel.empty() || (rows == ccd.image.rows() && cols == ccd.image.cols())) return;
  throw Error(kSizeMismatch, "READNOISE is " + shape(rows, cols) + " pixels, IMAGE is " +
                                 shape(ccd.image.rows(), ccd.image.cols()));
}

std::string angstrom(double wave_aa) { return print("%.2f", wave_aa); }

/// `of`: whose grid it is, for the error.
void require_increasing(std::span<const double> wave, const std::string& of) {
  if (wave.empty()) throw Error(Status::kUsage, "the wavelength grid" + of + " is empty");
  for (std::size_t i = 0; i < wave.size(); ++i) {
    if (!std::isfinite(wave[i]) || (i > 0 && wave[i] <= wave[i - 1])) {
      throw Error(Status::kUsage,
                  "the wavelength grid" + of + " does not increase at bin " + std::to_string(i));
    }
  }
}

void require_covered(const PsfModel& psf, std::span<const double> wave, const std::string& of) {
  const WaveRange range = wave_range_of(psf);
  const double reach = kMostExtrapolation * (range.last_aa - range.first_aa);
  if (wave.front() < range.first_aa - reach || wave.back() > range.last_aa + reach) {
    throw Error(kNotCovered,
                "the PSF covers " + angstrom(range.first_aa) + " to " + angstrom(range.last_aa) +
                    " Angstrom, the grid" + of + " runs from " + angstrom(wave.front()) + " to " +
                    angstrom(wave.back()) + ": expected no more than 5 % of that range (" +
                    angstrom(reach) + ") beyond, where the PSF's polynomials still mean something");
  }
}

/// Bins of neighbours share pixels only as far as the bands of the equations reach.
void require_near(const ExtractOptions& options, const PsfModel& psf) {
  const Array2D<double>& grids = options.fiber_wave;
  const std::size_t n = grids.cols();
  for (const BundleRange& bundle : bundle_ranges(psf, options.bundle_size)) {
    for (int f = bundle.first + 1; f < bundle.last; ++f) {
      const double *a = grids.row(static_cast<std::size_t>(f - 1)),
                   *b = grids.row(static_cast<std::size_t>(f));
      for (std::size_t j = 0; j < n; ++j) {
        const double step = n < 2 ? 1.0 : j + 1 < n ? b[j + 1] - b[j] : b[j] - b[j - 1];
        const double apart = std::abs(a[j] - b[j]) / step;
        if (apart <= kMostBinsApart) continue;
        throw Error(Status::kUsage,
                    print("bin %zu of fibres %d and %d is at %.2f and %.2f Angstrom, %.3g bins "
                          "apart: expected at most %d",
                          j, f - 1, f, a[j], b[j], apart, kMostBinsApart));
      }
    }
  }
}

void validate_fiber_grids(const PsfModel& psf, const ExtractOptions& options) {
  const Array2D<double>& grids = options.fiber_wave;
  if (grids.empty()) return;
  if (grids.rows() != static_cast<std::size_t>(psf.nfiber()) ||
      grids.cols() != options.wave.size()) {
    throw Error(kSizeMismatch,
                print("grids of %zu fibres and %zu bins, the PSF has %d fibres, the grid %zu bins",
                      grids.rows(), grids.cols(), psf.nfiber(), options.wave.size()));
  }
  for (std::size_t f = 0; f < grids.rows(); ++f) {
    const std::span<const double> grid(grids.row(f), grids.cols());
    const std::string of = " of fibre " + std::to_string(f);
    require_increasing(grid, of);
    require_covered(psf, grid, of);
  }
  require_near(options, psf);
}

}  // namespace

std::vector<BundleRange> bundle_ranges(const PsfModel& psf, int bundle_size) {
  std::vector<BundleRange> ranges;
  const int n = psf.nfiber();
  if (bundle_size > 0) {
    for (int f = 0; f < n; f += bundle_size) ranges.push_back({f, std::min(n, f + bundle_size)});
    return ranges;
  }
  for (int f = 0; f < n;) {
    int last = f + 1;
    while (last < n &&
           psf.bundle[static_cast<std::size_t>(last)] == psf.bundle[static_cast<std::size_t>(f)]) {
      ++last;
    }
    ranges.push_back({f, last});
    f = last;
  }
  return ranges;
}

std::vector<BundleRange> wanted_bundles(const PsfModel& psf, const ExtractOptions& options) {
  const int nspec = fiber_count(options, psf.nfiber());
  std::vector<BundleRange> bundles;
  for (const BundleRange& b : bundle_ranges(psf, options.bundle_size)) {
    if (b.last > options.spec_min && b.first < options.spec_min + nspec) bundles.push_back(b);
  }
  return bundles;
}

WaveRange wave_range_of(const PsfModel& psf) {
  WaveRange range{psf.x.wave_min, psf.x.wave_max};
  for (const LegendreSeries* series : {&psf.y, &psf.sigma_x, &psf.sigma_y}) {
    range.first_aa = std::max(range.first_aa, series->wave_min);
    range.last_aa = std::min(range.last_aa, series->wave_max);
  }
  return range;
}

void validate(const ExtractOptions& options) {
  if (options.bundle_size < 0) {
    throw Error(Status::kUsage, "bundle size " + std::to_string(options.bundle_size) +
                                    ": expected at least 1 (or 0 with a BUNDLE row in the PSF)");
  }
  constexpr int kMostDiagonals = 129;  // the widest band that the exact engine keeps of S
  if (options.ndiag < 1 || options.ndiag > kMostDiagonals || options.ndiag % 2 == 0) {
    throw Error(Status::kUsage, "ndiag " + std::to_string(options.ndiag) +
                                    ": expected an odd number from 1 to " +
                                    std::to_string(kMostDiagonals));
  }
  const auto require = [](const char* name, double value, const Interval& interval) {
    if (interval.contains(value)) return;
    throw Error(Status::kUsage,
                print("%s %g: expected a number %s", name, value, interval.words().c_str()));
  };
  require("tolerance", options.tolerance, kToleranceRange);
  require("max_iterations", options.max_iterations, kIterationRange);
  require("oversample", options.oversample, kOversampleRange);
  if (!(options.reject_nsig < 0)) require("reject", options.reject_nsig, kRejectRange);
  if (options.fiber_correlation && (options.decorrelate_fibers || options.oversample > 1)) {
    throw Error(Status::kUsage,
                std::string("fiber_correlation is of fibres decorrelated each by itself on the "
                            "result's own bins: not with ") +
                    (options.decorrelate_fibers ? "decorrelate_fibers" : "oversample"));
  }
}

void validate(const CcdFrame& ccd, const PsfModel& psf, const ExtractOptions& options) {
  validate(options);
  const auto ny = static_cast<std::size_t>(psf.npix_y), nx = static_cast<std::size_t>(psf.npix_x);
  if (ccd.image.rows() != ny || ccd.image.cols() != nx) {
    throw Error(kSizeMismatch, "IMAGE is " + shape(ccd.image.rows(), ccd.image.cols()) +
                                   " pixels, the PSF is for " + shape(ny, nx));
  }
  if (refines(options)) require_readnoise(ccd);
  const int nfiber = psf.nfiber();
  const int nspec = fiber_count(options, nfiber);
  if (options.spec_min < 0 || nspec < 1 || options.spec_min + nspec > nfiber) {
    const std::string first = std::to_string(options.spec_min);
    const std::string asked = options.nspec < 0 ? "fibres from " + first + " on"
                                                : "fibres " + first + " to " +
                                                      std::to_string(options.spec_min + nspec - 1);
    throw Error(kFiberRange, asked + " asked for, the PSF has 0 to " + std::to_string(nfiber - 1));
  }
  if (options.bundle_size == 0 && psf.bundle.empty()) {
    throw Error(Status::kUsage, "bundle size 0: the PSF has no BUNDLE row; expected at least 1");
  }
  require_increasing(options.wave, "");
  require_covered(psf, options.wave, "");
  validate_fiber_grids(psf, options);
}

std::vector<double> grid_of(const ExtractOptions& options, int fiber) {
  if (options.fiber_wave.empty()) return options.wave;
  const double* row = options.fiber_wave.row(static_cast<std::size_t>(fiber));
  return {row, row + options.fiber_wave.cols()};
}

std::vector<double> widths_of(const ExtractOptions& options, int fiber) {
  return bin_widths(grid_of(options, fiber));
}

void convert_resolution(const ExtractOptions& options, ExtractResult& result) {
  constexpr double kEqual = 1e-9;
  const std::size_t ndiag = result.resolution.rows(), half = ndiag / 2, n = result.flux.cols();
  std::vector<double> width;
  for (std::size_t s = 0; s < result.flux.rows(); ++s) {
    if (s == 0 || !options.fiber_wave.empty())
      width = widths_of(options, options.spec_min + static_cast<int>(s));
    const auto [least, most] = std::minmax_element(width.begin(), width.end());
    if (*most - *least <= kEqual * *most) continue;
    for (std::size_t k = 0; k < ndiag; ++k) {
      float* entry = &result.resolution(s, k, 0);
      for (std::size_t j = 0; j < n; ++j) {  // of row j - half + k
        if (j + k < half || j + k - half >= n) continue;
        entry[j] =
            static_cast<float>(static_cast<double>(entry[j]) * width[j] / width[j + k - half]);
      }
    }
  }
}

namespace {

/// The mask of fibres [first, last).
void mask_rows(ExtractResult& result, std::size_t first, std::size_t last) {
  constexpr double kFarAbove = 5, kCosmicShare = 0.01;
  const std::size_t nspec = result.flux.rows(), nwave = result.flux.cols();
  std::vector<double> values;
  std::vector<double> by_wave(nwave, -1.0);  // negative: not asked for yet; few bins ask
  const auto far_above_wave = [&](double chi2, std::size_t j) {
    if (by_wave[j] < 0) {
      values.resize(nspec);
      for (std::size_t s = 0; s < nspec; ++s) values[s] = result.chi2pix(s, j);
      by_wave[j] = median_of(values);
    }
    return chi2 > kFarAbove * by_wave[j];
  };
  for (std::size_t s = first; s < last; ++s) {
    values.assign(result.chi2pix.row(s), result.chi2pix.row(s) + nwave);
    const double by_fiber = median_of(values);
    for (std::size_t j = 0; j < nwave; ++j) {
      std::uint32_t bits = 0;
      if (result.pixmask_fraction(s, j) > 0.5) bits |= kSomeBadPix;
      if (result.ivar(s, j) == 0) bits |= kAllBadPix;
      if (!result.rejected_fraction.empty() && result.rejected_fraction(s, j) > kCosmicShare)
        bits |= kCosmic;
      const double chi2 = result.chi2pix(s, j);
      if (chi2 > kFarAbove * by_fiber && far_above_wave(chi2, j)) bits |= kBad2dFit;
      result.mask(s, j) = bits;
    }
  }
}

}  // namespace

void set_spectral_mask(ExtractResult& result) {
  SerialExecutor serial;
  set_spectral_mask(result, serial);
}

void set_spectral_mask(ExtractResult& result, Executor& executor) {
  const std::size_t nspec = result.flux.rows(), nwave = result.flux.cols();
  result.mask = Array2D<std::uint32_t>(nspec, nwave, 0U);
  if (nspec == 0 || nwave == 0) return;
  // medians over the fibres are found anew by every task that asks: no more tasks than threads
  const std::size_t tasks = std::min(nspec, executor.concurrency());
  executor.run(
      tasks, [&](std::size_t i) { mask_rows(result, nspec * i / tasks, nspec * (i + 1) / tasks); });
}

}  // namespace fiberloom
