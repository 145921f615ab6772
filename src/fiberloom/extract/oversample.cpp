// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/extract/oversample.hpp"

#include <algorithm>
#include <utility>

#include "fiberloom/spectrum/wave_grid.hpp"

namespace fiberloom {
namespace {

/// Most diagonals that an engine keeps.
constexpr int kMostDiagonals = 129;

/// One fibre's groups of fine bins.
class Groups {
 public:
  Groups(const ExtractResult& fine, std::size_t spec, std::size_t n, ExtractResult& out)
      : fine_(fine), spec_(spec), n_(n), out_(out) {}

  void average() {
    for (std::size_t big = 0; big < out_.flux.cols(); ++big) {
      double ivar = 0, flux = 0;
      for (std::size_t j = big * n_; j < (big + 1) * n_; ++j) {
        ivar += fine_.ivar(spec_, j);
        flux += fine_.ivar(spec_, j) * fine_.flux(spec_, j);
      }
      out_.ivar(spec_, big) = ivar;
      out_.flux(spec_, big) = ivar > 0 ? flux / ivar : 0.0;
      out_.xflux(spec_, big) = ivar > 0 ? mean(fine_.xflux, big) : 0.0;
      out_.chi2pix(spec_, big) = mean(fine_.chi2pix, big);
      out_.pixmask_fraction(spec_, big) = mean(fine_.pixmask_fraction, big);
      if (!fine_.rejected_fraction.empty())
        out_.rejected_fraction(spec_, big) = mean(fine_.rejected_fraction, big);
    }
  }

  /// Row J of both matrices is the weighted mean of the rows of its fine bins; a bin without
  /// information has the identity's.
  void resolve() {
    const std::size_t half = out_.resolution.rows() / 2, wide = fine_.resolution.rows() / 2;
    const std::size_t nfine = fine_.flux.cols();
    for (std::size_t k = 0; k < nfine; ++k) {
      for (std::size_t d = 0; d <= 2 * half; ++d) {
        const std::size_t column = k / n_;
        if (column + d < half || column + d - half >= out_.flux.cols()) continue;
        const std::size_t row = column + d - half;
        double sum = 0;
        for (std::size_t j = row * n_; j < (row + 1) * n_; ++j) {
          const std::size_t at = j + wide - k;  // may wrap: then it is beyond the diagonals
          if (at < fine_.resolution.rows())
            sum += fine_.ivar(spec_, j) * static_cast<double>(fine_.resolution(spec_, at, k));
        }
        const double ivar = out_.ivar(spec_, row);
        const double own = d == half ? 1.0 / static_cast<double>(n_) : 0.0;
        const auto entry = static_cast<float>(ivar > 0 ? sum / ivar : own);
        out_.fine_resolution(spec_, d, k) = entry;
        out_.resolution(spec_, d, column) += entry;
      }
    }
  }

 private:
  [[nodiscard]] double mean(const Array2D<double>& of, std::size_t big) const {
    double sum = 0;
    for (std::size_t j = big * n_; j < (big + 1) * n_; ++j) sum += of(spec_, j);
    return sum / static_cast<double>(n_);
  }

  const ExtractResult& fine_;
  std::size_t spec_, n_;
  ExtractResult& out_;
};

}  // namespace

std::vector<double> finer_grid(const std::vector<double>& wave, int oversample) {
  const std::vector<double> width = bin_widths(wave);
  std::vector<double> fine;
  fine.reserve(wave.size() * static_cast<std::size_t>(oversample));
  for (std::size_t j = 0; j < wave.size(); ++j) {
    for (int m = 0; m < oversample; ++m)
      fine.push_back(wave[j] + ((m + 0.5) / oversample - 0.5) * width[j]);
  }
  return fine;
}

int finer_diagonals(const ExtractOptions& options) {
  return std::min(2 * options.oversample * (options.ndiag / 2 + 1) + 1, kMostDiagonals);
}

ExtractOptions finer_options(const ExtractOptions& options) {
  const int n = options.oversample;
  ExtractOptions fine = options;
  fine.oversample = 1;
  fine.wave = finer_grid(options.wave, n);
  if (!options.fiber_wave.empty()) {
    fine.fiber_wave = Array2D<double>(options.fiber_wave.rows(), fine.wave.size());
    for (std::size_t f = 0; f < fine.fiber_wave.rows(); ++f) {
      const std::vector<double> grid = finer_grid(grid_of(options, static_cast<int>(f)), n);
      std::copy(grid.begin(), grid.end(), fine.fiber_wave.row(f));
    }
  }
  fine.ndiag = finer_diagonals(options);
  return fine;
}

ExtractResult coarser_result(ExtractResult fine, const ExtractOptions& options) {
  const std::size_t nspec = fine.flux.rows(), nwave = options.wave.size();
  const auto n = static_cast<std::size_t>(options.oversample);
  const auto ndiag = static_cast<std::size_t>(options.ndiag);
  ExtractResult out;
  out.wave = options.wave;
  out.spec_min = fine.spec_min;
  for (auto* a : {&out.flux, &out.ivar, &out.xflux, &out.chi2pix, &out.pixmask_fraction})
    *a = Array2D<double>(nspec, nwave);
  if (!fine.rejected_fraction.empty()) out.rejected_fraction = Array2D<double>(nspec, nwave);
  out.resolution = Array3D<float>(nspec, ndiag, nwave, 0.0F);
  out.fine_resolution = Array3D<float>(nspec, ndiag, n * nwave, 0.0F);
  for (std::size_t s = 0; s < nspec; ++s) {
    Groups groups(fine, s, n, out);
    groups.average();
    groups.resolve();
  }
  out.rejected = std::move(fine.rejected);
  out.model = std::move(fine.model);
  out.bundles = std::move(fine.bundles);
  out.device = std::move(fine.device);
  for (BundleReport& b : out.bundles) b.unconstrained /= n;
  set_spectral_mask(out);
  return out;
}

}  // namespace fiberloom
