// SPDX-License-Identifier: BSD-3-Clause
// Cosmic rays that one of several exposures has: where the steps between neighbouring pixels agree
// less than noise makes them.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "fiberloom/calibrate/coadd.hpp"
#include "fiberloom/calibrate/medians.hpp"
#include "loom/base/median.hpp"

namespace fiberloom::calibrate {
namespace {

constexpr std::size_t kFewestExposures = 3;  // exposures

/// Chance of a chi2 of `dof` numbers above x.
double chi2_tail(std::size_t dof, double x) {
  const double y = 0.5 * x;
  const bool odd = dof % 2 == 1;
  double term = odd ? 2 * std::sqrt(y / std::numbers::pi) * std::exp(-y) : std::exp(-y);
  double sum = odd ? std::erfc(std::sqrt(y)) : 0;
  for (double k = odd ? 1.5 : 1; 2 * k <= static_cast<double>(dof); ++k) {
    sum += term;
    term *= y / k;
  }
  return sum;
}

/// The chi2 of `dof` numbers that this chance lies above.
double chi2_beyond(std::size_t dof, double chance) {
  double low = 0, high = 1;
  while (chi2_tail(dof, high) > chance) high *= 2;
  for (int i = 0; i < 100 && low < high; ++i) {
    const double middle = 0.5 * (low + high);
    (chi2_tail(dof, middle) > chance ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

/// Differences of neighbouring pixels, exposure by exposure; masked ones bridged by lines.
struct Steps {
  std::vector<std::size_t> row;  ///< of those that have a good pixel
  Array2D<double> value, ivar;   ///< [row][nwave - 1]
};

Steps steps_of(const std::vector<double>& wave, const Array2D<double>& flux,
               const Array2D<double>& ivar) {
  const std::size_t n = wave.size();
  Steps out;
  for (std::size_t e = 0; e < flux.rows(); ++e) {
    const double* v = ivar.row(e);
    if (std::any_of(v, v + n, [](double x) { return x > 0; })) out.row.push_back(e);
  }
  out.value = out.ivar = Array2D<double>(out.row.size(), n - 1, 0.0);
  for (std::size_t k = 0; k < out.row.size(); ++k) {
    const std::size_t e = out.row[k];
    std::vector<double> x, f, v;
    for (std::size_t i = 0; i < n; ++i) {
      if (ivar(e, i) > 0) x.push_back(wave[i]), f.push_back(flux(e, i)), v.push_back(ivar(e, i));
    }
    const auto bridged = [&](std::size_t i, const Array2D<double>& a, const auto& good) {
      return ivar(e, i) > 0 ? a(e, i) : interpolate(x, good, wave[i]);
    };
    for (std::size_t i = 0; i + 1 < n; ++i) {
      out.value(k, i) = bridged(i + 1, flux, f) - bridged(i, flux, f);
      out.ivar(k, i) = 1 / (1 / bridged(i + 1, ivar, v) + 1 / bridged(i, ivar, v));
    }
  }
  return out;
}

/// chi2 of the steps at one place about their mean, and the row that adds most.
struct Spread {
  double chi2 = 0;
  std::size_t worst = 0;
};
Spread spread_at(const Steps& steps, std::size_t i, const std::vector<bool>& good) {
  double sum = 0, weight = 0, most = -1;
  for (std::size_t k = 0; k < good.size(); ++k) {
    if (good[k]) sum += steps.ivar(k, i) * steps.value(k, i), weight += steps.ivar(k, i);
  }
  Spread out;
  for (std::size_t k = 0; k < good.size(); ++k) {
    if (!good[k]) continue;
    const double chi2 = steps.ivar(k, i) * std::pow(steps.value(k, i) - sum / weight, 2);
    out.chi2 += chi2;
    if (chi2 > most) most = chi2, out.worst = k;
  }
  return out;
}

/// Between sorted values, as numpy's percentile.
double percentile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double at = share * static_cast<double>(values.size() - 1);
  const auto k = static_cast<std::size_t>(at);
  const double next = values[std::min(k + 1, values.size() - 1)];
  return values[k] + (at - static_cast<double>(k)) * (next - values[k]);
}

}  // namespace

Array2D<unsigned char> cosmic_pixels(const std::vector<double>& wave, const Array2D<double>& flux,
                                     const Array2D<double>& ivar, double nsig) {
  Array2D<unsigned char> out(flux.rows(), flux.cols(), static_cast<unsigned char>(0));
  if (flux.rows() < kFewestExposures || wave.size() < 2) return out;
  const Steps steps = steps_of(wave, flux, ivar);
  const std::size_t nrow = steps.row.size();
  if (nrow < kFewestExposures) return out;
  const std::vector<bool> all(nrow, true);
  std::vector<double> chi2(wave.size() - 1);
  for (std::size_t i = 0; i < chi2.size(); ++i) chi2[i] = spread_at(steps, i, all).chi2;
  const double chance = 0.5 * std::erfc(nsig / std::numbers::sqrt2);
  std::vector<double> sorted = chi2;
  const double middle = median_of(sorted);
  // What varies from exposure to exposure all along is no cosmic ray: then its own scatter counts.
  std::optional<double> fixed;
  constexpr double kOneSigma = 0.84;
  if (middle > 2 * chi2_beyond(nrow - 1, 0.5)) {
    fixed = middle + (percentile(chi2, kOneSigma) - middle) * nsig;
  }
  std::vector<double> limits(nrow + 1, 0.0);
  for (std::size_t k = 2; k <= nrow; ++k) limits[k] = fixed.value_or(chi2_beyond(k - 1, chance));
  for (std::size_t i = 0; i < chi2.size(); ++i) {
    if (!(chi2[i] > limits[nrow])) continue;
    std::vector<bool> good = all;
    for (std::size_t left = nrow; left >= kFewestExposures;) {
      const Spread now = spread_at(steps, i, good);
      if (!(now.chi2 > limits[left])) break;
      good[now.worst] = false;
      --left;
      // which of the two pixels it was, a step does not say
      out(steps.row[now.worst], i) = out(steps.row[now.worst], i + 1) = 1;
    }
  }
  return out;
}

}  // namespace fiberloom::calibrate
