// SPDX-License-Identifier: BSD-3-Clause
// A basis for spectra of one type, from spectra with errors and missing data: principal components
// (signed) or non-negative factors. Knows no files.
#pragma once

#include <cstddef>

#include "loom/base/array.hpp"

namespace fiberloom::templates {

using loom::Array2D;

/// Spectra at rest on one wavelength grid.
struct TrainingSpectra {
  Array2D<double> flux;    ///< [n][nwave]
  Array2D<double> weight;  ///< [n][nwave], 0: missing; empty: all alike
};

struct BasisOptions {
  std::size_t nbasis = 5;
  int iterations = 20;  ///< of the weighted fit; all data and no weights need none
};

/// flux ~ coefficients x vectors. Vectors have an rms of 1; the first follows the mean.
struct Basis {
  Array2D<double> vectors;       ///< [nbasis][nwave]
  Array2D<double> coefficients;  ///< [n][nbasis]
  double chi2 = 0;               ///< sum of weight x residual^2
};

/// Minimises chi2 over vectors and coefficients by turns (each step is a linear least squares),
/// from the eigenvectors of the spectra with gaps filled; the mean is not taken off. What no
/// spectrum covers is 0. Throws kUsage where there are fewer spectra than vectors, kWrongShape.
[[nodiscard]] Basis weighted_pca(const TrainingSpectra& spectra, const BasisOptions& options);

/// The same with nothing below zero: multiplicative updates that take noise below zero as it is
/// (the sums of weighted data are cut at zero, not the data). chi2 falls in every step.
[[nodiscard]] Basis weighted_nmf(const TrainingSpectra& spectra, const BasisOptions& options);

}  // namespace fiberloom::templates
