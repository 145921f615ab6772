// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/templates/basis.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/linalg/bounded.hpp"
#include "loom/linalg/symmetric_eigen.hpp"

namespace fiberloom::templates {
namespace {

using loom::Error;
using loom::print;
using loom::Status;

void check(const TrainingSpectra& s, const BasisOptions& options) {
  if (!s.weight.empty() && (s.weight.rows() != s.flux.rows() || s.weight.cols() != s.flux.cols())) {
    throw Error(Status::kWrongShape, "training spectra: weights have another shape than fluxes");
  }
  if (options.nbasis == 0 || s.flux.rows() < options.nbasis || s.flux.cols() < options.nbasis) {
    throw Error(Status::kUsage, print("%zu vectors of %zu spectra with %zu wavelengths: expected "
                                      "as many of both, and one vector or more",
                                      options.nbasis, s.flux.rows(), s.flux.cols()));
  }
}

double weight_of(const TrainingSpectra& s, std::size_t i, std::size_t j) {
  return s.weight.empty() ? 1.0 : s.weight(i, j);
}

/// Gaps become the mean spectrum times the spectrum's own level.
Array2D<double> filled(const TrainingSpectra& s) {
  Array2D<double> out = s.flux;
  if (s.weight.empty()) return out;
  const std::size_t n = s.flux.rows(), m = s.flux.cols();
  std::vector<double> mean(m, 0.0);
  for (std::size_t j = 0; j < m; ++j) {
    double sum = 0, total = 0;
    for (std::size_t i = 0; i < n; ++i) {
      sum += s.weight(i, j) * s.flux(i, j);
      total += s.weight(i, j);
    }
    mean[j] = total > 0 ? sum / total : 0;
  }
  for (std::size_t i = 0; i < n; ++i) {
    double top = 0, bottom = 0;
    for (std::size_t j = 0; j < m; ++j) {
      top += s.weight(i, j) * s.flux(i, j) * mean[j];
      bottom += s.weight(i, j) * mean[j] * mean[j];
    }
    const double level = bottom > 0 ? top / bottom : 0;
    for (std::size_t j = 0; j < m; ++j) {
      if (!(s.weight(i, j) > 0)) out(i, j) = level * mean[j];
    }
  }
  return out;
}

/// x of M x = y; what M says nothing about is 0.
std::vector<double> solved(const Array2D<double>& m, std::span<const double> y) {
  const std::vector<double> low(y.size(), -HUGE_VAL), high(y.size(), HUGE_VAL);
  return loom::bounded_least_squares(m.view(), y, low, high).c;
}

/// The nbasis leading eigenvectors of flux^T flux, by way of the smaller flux flux^T.
Array2D<double> leading_vectors(const Array2D<double>& flux, std::size_t nbasis) {
  const std::size_t n = flux.rows(), m = flux.cols();
  Array2D<double> gram(n, n, 0.0);
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = a; b < n; ++b) {
      double sum = 0;
      for (std::size_t j = 0; j < m; ++j) sum += flux(a, j) * flux(b, j);
      gram(a, b) = gram(b, a) = sum;
    }
  }
  const loom::SymmetricEigen e = loom::symmetric_eigen(std::move(gram));
  Array2D<double> out(nbasis, m, 0.0);
  for (std::size_t k = 0; k < nbasis; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < m; ++j) out(k, j) += e.vectors(k, i) * flux(i, j);
    }
  }
  return out;
}

/// At most this many spectra go into the first guess: its cost grows with their square.
constexpr std::size_t kFirstGuess = 300;

Array2D<double> first_guess(const TrainingSpectra& s, std::size_t nbasis) {
  const Array2D<double> all = filled(s);
  if (all.rows() <= kFirstGuess) return leading_vectors(all, nbasis);
  Array2D<double> some(kFirstGuess, all.cols());
  for (std::size_t i = 0; i < kFirstGuess; ++i) {
    const std::size_t from = i * all.rows() / kFirstGuess;
    std::copy(all.row(from), all.row(from) + all.cols(), some.row(i));
  }
  return leading_vectors(some, nbasis);
}

/// Least squares of every spectrum with the vectors, or of every wavelength with the coefficients.
template <class Data, class Weight>
Array2D<double> fit_each(std::size_t count, std::size_t length, const Array2D<double>& basis,
                         const Data& data, const Weight& weight) {
  const std::size_t nb = basis.rows();
  Array2D<double> out(count, nb), m(nb, nb);
  std::vector<double> y(nb);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t a = 0; a < nb; ++a) {
      y[a] = 0;
      for (std::size_t b = a; b < nb; ++b) m(a, b) = 0;
    }
    for (std::size_t j = 0; j < length; ++j) {
      const double w = weight(i, j);
      if (w == 0) continue;
      for (std::size_t a = 0; a < nb; ++a) {
        y[a] += w * data(i, j) * basis(a, j);
        for (std::size_t b = a; b < nb; ++b) m(a, b) += w * basis(a, j) * basis(b, j);
      }
    }
    for (std::size_t a = 0; a < nb; ++a) {
      for (std::size_t b = 0; b < a; ++b) m(a, b) = m(b, a);
    }
    const std::vector<double> c = solved(m, y);
    std::copy(c.begin(), c.end(), out.row(i));
  }
  return out;
}

Array2D<double> transposed(const Array2D<double>& a) {
  Array2D<double> out(a.cols(), a.rows());
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < a.cols(); ++j) out(j, i) = a(i, j);
  }
  return out;
}

Array2D<double> coefficients_of(const TrainingSpectra& s, const Array2D<double>& vectors) {
  return fit_each(
      s.flux.rows(), s.flux.cols(), vectors,
      [&](std::size_t i, std::size_t j) { return s.flux(i, j); },
      [&](std::size_t i, std::size_t j) { return weight_of(s, i, j); });
}

/// The same span turned to its principal axes: vectors orthogonal, the strongest first.
Array2D<double> principal(const Array2D<double>& coefficients, const Array2D<double>& vectors) {
  Array2D<double> model(std::min(coefficients.rows(), kFirstGuess), vectors.cols(), 0.0);
  for (std::size_t i = 0; i < model.rows(); ++i) {
    const std::size_t from = i * coefficients.rows() / model.rows();
    for (std::size_t a = 0; a < vectors.rows(); ++a) {
      for (std::size_t j = 0; j < model.cols(); ++j) {
        model(i, j) += coefficients(from, a) * vectors(a, j);
      }
    }
  }
  return leading_vectors(model, vectors.rows());
}

void to_unit_rms(Array2D<double>& vectors) {
  for (std::size_t a = 0; a < vectors.rows(); ++a) {
    double sum = 0, mean = 0;
    for (std::size_t j = 0; j < vectors.cols(); ++j) {
      sum += vectors(a, j) * vectors(a, j);
      mean += vectors(a, j);
    }
    if (!(sum > 0)) continue;
    const double scale =
        std::sqrt(static_cast<double>(vectors.cols()) / sum) * (a == 0 && mean < 0 ? -1 : 1);
    for (std::size_t j = 0; j < vectors.cols(); ++j) vectors(a, j) *= scale;
  }
}

double chi2_of(const TrainingSpectra& s, const Basis& basis) {
  double chi2 = 0;
  for (std::size_t i = 0; i < s.flux.rows(); ++i) {
    for (std::size_t j = 0; j < s.flux.cols(); ++j) {
      const double w = weight_of(s, i, j);
      if (w == 0) continue;
      double r = s.flux(i, j);
      for (std::size_t a = 0; a < basis.vectors.rows(); ++a) {
        r -= basis.coefficients(i, a) * basis.vectors(a, j);
      }
      chi2 += w * r * r;
    }
  }
  return chi2;
}

/// factor *= max(data side, 0) / model side, row by row: one step for `factor` with the other one
/// held. data(i, j), weight(i, j) as fit_each takes them.
template <class Data, class Weight>
void multiply_up(Array2D<double>& factor, const Array2D<double>& other, const Data& data,
                 const Weight& weight) {
  const std::size_t nb = other.rows(), length = other.cols();
  std::vector<double> top(nb), bottom(nb);
  for (std::size_t i = 0; i < factor.rows(); ++i) {
    std::fill(top.begin(), top.end(), 0.0);
    std::fill(bottom.begin(), bottom.end(), 0.0);
    for (std::size_t j = 0; j < length; ++j) {
      const double w = weight(i, j);
      if (w == 0) continue;
      double model = 0;
      for (std::size_t a = 0; a < nb; ++a) model += factor(i, a) * other(a, j);
      for (std::size_t a = 0; a < nb; ++a) {
        top[a] += w * data(i, j) * other(a, j);
        bottom[a] += w * model * other(a, j);
      }
    }
    for (std::size_t a = 0; a < nb; ++a) {
      factor(i, a) = bottom[a] > 0 ? factor(i, a) * std::max(top[a], 0.0) / bottom[a] : 0;
    }
  }
}

}  // namespace

Basis weighted_pca(const TrainingSpectra& s, const BasisOptions& options) {
  check(s, options);
  Basis out;
  out.vectors = first_guess(s, options.nbasis);
  to_unit_rms(out.vectors);
  out.coefficients = coefficients_of(s, out.vectors);
  const bool complete = s.weight.empty() && s.flux.rows() <= kFirstGuess;
  for (int step = 0; step < options.iterations && !complete; ++step) {
    const Array2D<double> by_vector = transposed(out.coefficients);
    out.vectors = transposed(fit_each(
        s.flux.cols(), s.flux.rows(), by_vector,
        [&](std::size_t j, std::size_t i) { return s.flux(i, j); },
        [&](std::size_t j, std::size_t i) { return weight_of(s, i, j); }));
    to_unit_rms(out.vectors);
    out.coefficients = coefficients_of(s, out.vectors);
  }
  if (!complete) {
    out.vectors = principal(out.coefficients, out.vectors);
    to_unit_rms(out.vectors);
    out.coefficients = coefficients_of(s, out.vectors);
  }
  out.chi2 = chi2_of(s, out);
  return out;
}

Basis weighted_nmf(const TrainingSpectra& s, const BasisOptions& options) {
  check(s, options);
  const std::size_t n = s.flux.rows(), m = s.flux.cols(), nb = options.nbasis;
  const Array2D<double> start = filled(s);
  Array2D<double> by_wave(m, nb, 0.0);    // vectors, a wavelength a row
  for (std::size_t a = 0; a < nb; ++a) {  // means of parts of the spectra, nothing at zero
    for (std::size_t i = a; i < n; i += nb) {
      for (std::size_t j = 0; j < m; ++j) by_wave(j, a) += std::max(start(i, j), 0.0);
    }
    double mean = 0;
    for (std::size_t j = 0; j < m; ++j) mean += by_wave(j, a) / static_cast<double>(m);
    for (std::size_t j = 0; j < m; ++j) by_wave(j, a) = by_wave(j, a) / mean + 1e-3;
  }
  Basis out;
  out.coefficients = Array2D<double>(n, nb, 1.0 / static_cast<double>(nb));
  for (int step = 0; step < 20 * options.iterations; ++step) {
    multiply_up(
        out.coefficients, transposed(by_wave),
        [&](std::size_t i, std::size_t j) { return s.flux(i, j); },
        [&](std::size_t i, std::size_t j) { return weight_of(s, i, j); });
    multiply_up(
        by_wave, transposed(out.coefficients),
        [&](std::size_t j, std::size_t i) { return s.flux(i, j); },
        [&](std::size_t j, std::size_t i) { return weight_of(s, i, j); });
  }
  out.vectors = transposed(by_wave);
  Array2D<double> before = out.vectors;
  to_unit_rms(out.vectors);
  for (std::size_t a = 0; a < nb; ++a) {
    const auto at = static_cast<std::size_t>(std::max_element(before.row(a), before.row(a) + m) -
                                             before.row(a));
    const double scale = out.vectors(a, at) > 0 ? before(a, at) / out.vectors(a, at) : 0;
    for (std::size_t i = 0; i < n; ++i) out.coefficients(i, a) *= scale;
  }
  out.chi2 = chi2_of(s, out);
  return out;
}

}  // namespace fiberloom::templates
