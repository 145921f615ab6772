// SPDX-License-Identifier: BSD-3-Clause
// Spectrum bounds, then one banded problem a pole.
#include "fiberloom/extract/exact/decorrelate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "fiberloom/base/error.hpp"
#include "fiberloom/linalg/rational_root.hpp"

namespace fiberloom::exact {

namespace {

/// Gershgorin: the largest absolute row sum.
double upper_bound(const Windows& w, int band, const double* s, GrowBuffer<double>& sums) {
  const std::size_t rows = static_cast<std::size_t>(w.rows) * kLanes;
  sums.resize(rows + static_cast<std::size_t>(band) * kLanes, 0.0);
  double* sum = sums.data();
  for (int row = 0; row < w.rows; ++row) {
    for (int d = 0; d <= band; ++d) {
      const double* entry = s + (row * (band + 1L) + d) * kLanes;
      for (int i = 0; i < kLanes; ++i) {
        const double v = std::abs(entry[i]);
        sum[row * kLanes + i] += v;
        if (d > 0) sum[(row + d) * kLanes + i] += v;
      }
    }
  }
  return *std::max_element(sum, sum + rows);
}

bool positive_definite(const Windows& w, int band, const double* s, double shift,
                       const BandedKernels& banded, RootBuffers& b) {
  double shifts[kLanes], pivot[kLanes];
  std::fill(shifts, shifts + kLanes, shift);
  banded.factor(band, w.rows, s, shifts, b.l.data(), b.inv_d.data(), pivot);
  return *std::min_element(pivot, pivot + kLanes) > 0;
}

/// A lower bound on the spectrum, proven by the positive pivots of S - low I. The first guess is 1
/// / |S^-1|_inf, taken from the solution for a vector of alternating signs, which is what the
/// inverse of a smooth matrix likes. Leaves that solution, about the local 1 / lambda, in b.v1.
/// Returns 0 when S is not positive definite.
double lower_bound(const Windows& w, int band, const double* s, double high,
                   const BandedKernels& banded, RootBuffers& b) {
  if (!positive_definite(w, band, s, 0.0, banded, b)) return 0.0;
  double* v = b.v1.data();
  for (int row = 0; row < w.rows; ++row) {
    for (int i = 0; i < kLanes; ++i) v[row * kLanes + i] = (w.bin(i, row) & 1) != 0 ? -1.0 : 1.0;
  }
  banded.solve(band, w.rows, b.l.data(), b.inv_d.data(), v);
  double norm = 0;
  for (int row = 0; row < w.rows; ++row) {
    for (int i = 0; i < kLanes; ++i) {
      if (w.inside(i, row)) norm = std::max(norm, std::abs(v[row * kLanes + i]));
    }
  }
  double low = std::min(0.9 / norm, 0.9 * high);
  for (int attempt = 0; attempt < 60; ++attempt) {  // factoring leaves b.v1 alone
    if (positive_definite(w, band, s, -low, banded, b)) return low;
    low *= 0.4;
  }
  return 0.0;
}

/// What the band cuts off, dS, changes Q by the solution X of Q X + X Q = dS, which is about dS /
/// (2 sqrt(lambda)) with the local lambda of 1 / b.v1; it acts on x and, through s = Q 1, once more
/// on the flux. dS begins where the band ends and falls by `decay` from diagonal to diagonal.
double truncation_error(const Windows& w, int band, double decay, const double* s, double shift,
                        const RootBuffers& b) {
  const double tail = decay / (1.0 - decay);
  double worst = 0;
  for (int row = 0; row + band < w.rows; ++row) {
    const double* last = s + (row * (band + 1L) + band) * kLanes;
    for (int i = 0; i < kLanes; ++i) {
      const auto here = static_cast<std::size_t>(row * kLanes + i);
      const auto there = here + static_cast<std::size_t>(band * kLanes);
      // |x| + sigma of x: what is cut off also changes ivar and R where there is no flux
      const double d =
          std::min(s[row * (band + 1L) * kLanes + i], s[(row + band) * (band + 1L) * kLanes + i]);
      const double x =
          std::max(std::abs(b.x[here]), std::abs(b.x[there])) + (d > 0 ? 1.0 / std::sqrt(d) : 0.0);
      const double inverse = std::max(std::abs(b.v1[here]), std::abs(b.v1[there]));
      worst = std::max(worst, (2.0 * tail * std::abs(last[i]) + shift) * x * std::sqrt(inverse));
    }
  }
  return worst;
}

/// Returns S + shift I with the smallest shift of a fixed ladder that has a lower bound, which goes
/// to the report.
const double* shift_until_definite(const Windows& w, int band, const double* s, RootReport& report,
                                   double& shift, const BandedKernels& banded, RootBuffers& b) {
  const long row_size = (band + 1L) * kLanes;
  double* shifted =
      b.shifted.resize(static_cast<std::size_t>(w.rows) * static_cast<std::size_t>(row_size));
  for (shift = 1e-13 * report.high; shift < report.high; shift *= 10) {
    std::copy(s, s + w.rows * row_size, shifted);
    for (int row = 0; row < w.rows; ++row) {
      for (int i = 0; i < kLanes; ++i) shifted[row * row_size + i] += shift;
    }
    report.low = lower_bound(w, band, shifted, report.high, banded, b);
    if (report.low > 0) return shifted;
  }
  throw Error(Status::kNumerical, "the marginal precision of a fibre is not positive definite");
}

}  // namespace

RootReport square_root(const Windows& w, int band, double decay, const double* s, const double* x,
                       int nd, double tolerance_sigma, const BandedKernels& banded,
                       Indefinite indefinite, RootBuffers& b) {
  const std::size_t rows = static_cast<std::size_t>(w.rows) * kLanes;
  b.l.resize(rows * static_cast<std::size_t>(band));
  b.inv_d.resize(rows);
  b.v1.resize(rows);
  b.vx.resize(rows);
  b.x.resize(rows, 0.0);
  b.ones.resize(rows, 0.0);
  RootReport report;
  for (int i = 0; i < kLanes; ++i) {
    for (int row = 0; row < w.rows; ++row) {
      if (!w.inside(i, row)) continue;
      const double value = x[w.bin(i, row)];
      b.x[static_cast<std::size_t>(row * kLanes + i)] = value;
      b.ones[static_cast<std::size_t>(row * kLanes + i)] = 1.0;
      const double diagonal = s[row * (band + 1L) * kLanes + i];
      report.signal = std::max(report.signal, diagonal * value * value);
    }
  }
  report.signal = std::sqrt(report.signal);
  report.high = upper_bound(w, band, s, b.q1);
  report.low = lower_bound(w, band, s, report.high, banded, b);
  double shift = 0;
  if (!(report.low > 0)) {
    if (indefinite == Indefinite::kReport) {
      report.low = 0;
      report.truncation = std::numeric_limits<double>::infinity();
      return report;
    }
    s = shift_until_definite(w, band, s, report, shift, banded, b);
  }
  report.truncation = truncation_error(w, band, decay, s, shift, b);
  const double tolerance = std::max(tolerance_sigma / (1.0 + report.signal), 1e-14);
  report.poles = pole_count(report.high / report.low, tolerance);
  const RationalRoot root = rational_root(report.low, report.high, report.poles);
  report.error = root.error;

  b.q.resize(rows * static_cast<std::size_t>(nd + 1), 0.0);
  b.q1.resize(rows, 0.0);
  b.qx.resize(rows, 0.0);
  double t[kLanes], c[kLanes], pivot[kLanes];
  for (std::size_t k = 0; k < root.t.size(); ++k) {
    std::fill(t, t + kLanes, root.t[k]);
    std::fill(c, c + kLanes, root.c[k]);
    banded.root_pole(band, w.rows, s, t, c, b.ones.data(), b.x.data(), nd,
                     {b.l.data(), b.inv_d.data(), b.v1.data(), b.vx.data()}, b.q.data(),
                     b.q1.data(), b.qx.data(), pivot);
  }
  return report;
}

}  // namespace fiberloom::exact
