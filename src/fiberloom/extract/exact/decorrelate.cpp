// SPDX-License-Identifier: BSD-3-Clause
// Spectrum bounds, then one banded problem a pole.
#include "fiberloom/extract/exact/decorrelate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fiberloom/extract/extract.hpp"
#include "loom/base/stop.hpp"

namespace fiberloom::exact {

namespace {

std::size_t at(int row, int lane) { return static_cast<std::size_t>(row * kLanes + lane); }

double upper_bound(const Windows& w, int band, const double* s, const BandedKernels& banded) {
  double largest[kLanes];
  banded.largest_row_sum(band, w.rows, s, largest);
  return *std::max_element(largest, largest + kLanes);
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
/// Returns 0 when S is not positive definite, or not to the last digits of a double.
double lower_bound(const Windows& w, int band, const double* s, double high,
                   const Observer* observer, const BandedKernels& banded, RootBuffers& b) {
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
  double low = first_bound(norm, high);
  for (int factors = 0; worth_proving(low, high, factors); ++factors) {
    stop_if_asked(observer);  // factoring leaves b.v1 alone
    if (positive_definite(w, band, s, -low, banded, b)) return low;
    low = next_bound(low);
  }
  return 0.0;
}

/// row_weight() of all bins, the local 1 / lambda being b.v1.
void weigh_rows(const Windows& w, int band, const double* s, RootBuffers& b) {
  double* weight = b.weight.resize(static_cast<std::size_t>(w.rows) * kLanes);
  for (int row = 0; row < w.rows; ++row) {
    const double* diagonal = s + row * (band + 1L) * kLanes;
    const double *x = b.x.data() + row * kLanes, *inverse = b.v1.data() + row * kLanes;
    double* out = weight + row * kLanes;
    for (int i = 0; i < kLanes; ++i) out[i] = row_weight(diagonal[i], x[i], inverse[i]);
  }
}

/// Error of a bin from entries of S beyond the diagonal `kept`: those that are known, and those
/// behind the band, which fall by `decay` from diagonal to diagonal. `shift` was added to the
/// diagonal. Drowned bins do not count, since they are given up.
double truncation_error(const Windows& w, const RootTask& task, int kept, const double* s,
                        double shift, const RootBuffers& b) {
  const double tail = tail_of(task.decay);
  double worst[kLanes] = {};
  const int first = first_cut_off(kept, task.band);
  for (int row = 0; row < w.rows; ++row) {
    const double* here = b.weight.data() + row * kLanes;
    double sum[kLanes];
    for (int i = 0; i < kLanes; ++i) sum[i] = shift * here[i];
    for (int d = first; d <= task.band && row + d < w.rows; ++d) {
      const double* entry = s + (row * (task.band + 1L) + d) * kLanes;
      const double* there = here + d * kLanes;
      const double share = cut_off_share(d, kept, task.band, tail);
      for (int i = 0; i < kLanes; ++i) sum[i] += entry_error(share, entry[i], here[i], there[i]);
    }
    if (b.drowned.size() > 0) {
      for (int i = 0; i < kLanes; ++i) sum[i] = b.drowned[at(row, i)] != 0 ? 0.0 : sum[i];
    }
    for (int i = 0; i < kLanes; ++i) worst[i] = std::max(worst[i], sum[i]);
  }
  return *std::max_element(worst, worst + kLanes);
}

/// The bins whose error of that kind, for the whole band, is beyond `allowed`, and those beside
/// them, which may be as ill off.
BinRanges bins_beyond(const Windows& w, const RootTask& task, const double* s, double allowed,
                      const RootBuffers& b) {
  const double share = cut_off_share(task.band, task.band, task.band, tail_of(task.decay));
  BinRanges beyond;
  for (int row = 0; row + task.band < w.rows; ++row) {
    const double *here = b.weight.data() + row * kLanes, *there = here + task.band * kLanes;
    const double* entry = s + (row * (task.band + 1L) + task.band) * kLanes;
    for (int i = 0; i < kLanes; ++i) {
      if (entry_error(share, entry[i], here[i], there[i]) <= allowed) continue;
      const int j = w.bin(i, row);
      beyond.push_back(bins_left_for(j, task.band, w.nbin));
    }
  }
  return merged(std::move(beyond), 0);
}

/// Takes a range of bins out of S: their rows become multiples of the identity's, and take no flux.
void take_out(const Windows& w, int band, BinRange left, double diagonal, double* out,
              RootBuffers& b) {
  const long row_size = (band + 1L) * kLanes;
  for (int i = 0; i < kLanes; ++i) {
    const int first = std::max(left.first - w.bin(i, 0), 0);
    const int end = std::min(left.last - w.bin(i, 0), w.rows);
    for (int row = std::max(first - band, 0); row < end; ++row) {
      double* entry = out + row * row_size + i;
      const int last = row < first ? std::min(band, end - 1 - row) : band;
      for (int d = std::max(first - row, 0); d <= last; ++d)
        entry[d * static_cast<long>(kLanes)] = 0;
      if (row < first) continue;
      entry[0] = diagonal;
      b.x[at(row, i)] = b.ones[at(row, i)] = 0;
    }
  }
}

/// S without some bins, in b.shifted.
const double* without_bins(const Windows& w, int band, const double* s, const BinRanges& left,
                           double diagonal, RootBuffers& b) {
  const std::size_t size =
      static_cast<std::size_t>(w.rows) * static_cast<std::size_t>(band + 1) * kLanes;
  double* out = b.shifted.resize(size);
  std::copy(s, s + size, out);
  for (const BinRange& range : left) take_out(w, band, range, diagonal, out, b);
  return out;
}

/// Leaves out the bins that the band is too narrow for, and those that this makes a matter of,
/// until it will do: returns what remains of S, null where nothing of that kind helps.
const double* leave_bins(const Windows& w, const RootTask& task, const double* s, double allowed,
                         RootReport& report, const BandedKernels& banded, RootBuffers& b) {
  BinRanges left;
  const double* rest = s;
  for (int attempt = 0; attempt < kMostLeavings; ++attempt) {
    const BinRanges more = bins_beyond(w, task, rest, allowed, b);
    left.insert(left.end(), more.begin(), more.end());
    left = merged(std::move(left), 0);
    rest = without_bins(w, task.band, s, left, report.high, b);
    const double high = upper_bound(w, task.band, rest, banded);
    const double low = lower_bound(w, task.band, rest, high, task.observer, banded, b);
    if (!(low > 0)) return nullptr;
    weigh_rows(w, task.band, rest, b);
    const double truncation = truncation_error(w, task, task.band, rest, 0, b);
    allowed = allowed_sigma(task.tolerance, high, low);
    if (truncation > allowed) continue;
    report.left = std::move(left);
    report.left_truncation = report.truncation;
    report.truncation = truncation;
    report.low = low;
    report.high = high;
    return rest;
  }
  return nullptr;
}

/// Notes the bins that know little more than what was added to the diagonal of S.
void find_drowned(const Windows& w, int band, const double* s, double shift, RootBuffers& b) {
  unsigned char* out = b.drowned.resize(static_cast<std::size_t>(w.rows) * kLanes);
  for (int row = 0; row < w.rows; ++row) {
    const double* diagonal = s + row * (band + 1L) * kLanes;
    for (int i = 0; i < kLanes; ++i) {
      const double own = diagonal[i] - shift;
      out[at(row, i)] = shift < kMostShift * own ? 0 : 1;
    }
  }
}

/// Returns S + shift I with the smallest shift of a fixed ladder that has a lower bound, which goes
/// to the report; null where none has, or S is not finite.
const double* shift_until_definite(const Windows& w, const RootTask& task, const double* s,
                                   RootReport& report, double& shift, const BandedKernels& banded,
                                   RootBuffers& b) {
  const long row_size = (task.band + 1L) * kLanes;
  if (!std::all_of(s, s + w.rows * row_size, [](double e) { return std::isfinite(e); }))
    return nullptr;
  double* shifted =
      b.shifted.resize(static_cast<std::size_t>(w.rows) * static_cast<std::size_t>(row_size));
  for (shift = 1e-13 * report.high; shift < report.high; shift *= 10) {
    stop_if_asked(task.observer);
    std::copy(s, s + w.rows * row_size, shifted);
    for (int row = 0; row < w.rows; ++row) {
      for (int i = 0; i < kLanes; ++i) shifted[row * row_size + i] += shift;
    }
    report.low = lower_bound(w, task.band, shifted, report.high, task.observer, banded, b);
    if (report.low > 0) return shifted;
  }
  return nullptr;
}

/// The narrowest band with which this fibre stays within what is allowed; most fibres do not need
/// the band that a defect asks for. Leaves S cut to it in b.narrow, with the bounds and the
/// truncation of that in the report.
int narrow_band(const Windows& w, const RootTask& task, const double* s, double shift,
                double allowed, const BandedKernels& banded, RootReport& report, RootBuffers& b) {
  for (const int band : kBands) {
    if (!may_do_with(band, task.least_band, task.band)) continue;
    const double truncation = truncation_error(w, task, band, s, shift, b);
    if (truncation > allowed) continue;
    double* narrow = b.narrow.resize(static_cast<std::size_t>(w.rows * (band + 1)) * kLanes);
    for (int row = 0; row < w.rows; ++row) {
      const double* from = s + row * (task.band + 1L) * kLanes;
      std::copy(from, from + (band + 1) * kLanes, narrow + row * (band + 1L) * kLanes);
    }
    const double low = lower_bound(w, band, narrow, report.high, task.observer, banded, b);
    if (!(low > 0)) continue;
    report.low = low;
    report.truncation = truncation;
    return band;
  }
  return task.band;
}

/// The flux into the windows' lanes and ones beside it, both zero in padding rows; returns the
/// largest S_jj x_j^2.
double load_flux(const Windows& w, int band, const double* s, const double* x, RootBuffers& b) {
  int first_bin[kLanes], begin[kLanes], end[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    first_bin[i] = w.bin(i, 0);
    begin[i] = std::max(0, -first_bin[i]);
    end[i] = w.nbin - first_bin[i];
  }
  double signal[kLanes] = {};
  for (int row = 0; row < w.rows; ++row) {
    const double* diagonal = s + row * (band + 1L) * kLanes;
    double *out = b.x.data() + row * kLanes, *one = b.ones.data() + row * kLanes;
    for (int i = 0; i < kLanes; ++i) {
      const bool inside = row >= begin[i] && row < end[i];
      out[i] = inside ? x[first_bin[i] + row] : 0.0;
      one[i] = inside ? 1.0 : 0.0;
    }
    for (int i = 0; i < kLanes; ++i) signal[i] = std::max(signal[i], diagonal[i] * out[i] * out[i]);
  }
  return *std::max_element(signal, signal + kLanes);
}

void take_poles(const Windows& w, const RootTask& task, const double* s,
                const BandedKernels& banded, RootReport& report, RootBuffers& b) {
  const std::size_t rows = static_cast<std::size_t>(w.rows) * kLanes;
  const RationalRoot root =
      choose_poles(report.low, report.high, report.signal, task.root_tolerance);
  report.poles = static_cast<int>(root.t.size());
  report.error = root.error;
  b.q.resize(rows * static_cast<std::size_t>(task.nd + 1), 0.0);
  b.q1.resize(rows, 0.0);
  b.qx.resize(rows, 0.0);
  double t[kLanes], c[kLanes], pivot[kLanes];
  for (std::size_t k = 0; k < root.t.size(); ++k) {
    stop_if_asked(task.observer);
    std::fill(t, t + kLanes, root.t[k]);
    std::fill(c, c + kLanes, root.c[k]);
    banded.root_pole(report.band, w.rows, s, t, c, b.ones.data(), b.x.data(), task.nd,
                     {b.l.data(), b.inv_d.data(), b.v1.data(), b.vx.data()}, b.q.data(),
                     b.q1.data(), b.qx.data(), pivot);
  }
}

}  // namespace

namespace {

/// Bounds and truncation of S. Leaves S as the root must take it in `s`; null where there will be
/// none, because a wider band is to be taken or the fibre is lost.
RootReport examine(const Windows& w, const RootTask& task, const double*& s, const double* x,
                   const BandedKernels& banded, RootBuffers& b) {
  const std::size_t rows = static_cast<std::size_t>(w.rows) * kLanes;
  b.l.resize(rows * static_cast<std::size_t>(task.band));
  b.inv_d.resize(rows);
  b.v1.resize(rows);
  b.vx.resize(rows);
  b.x.resize(rows);
  b.ones.resize(rows);
  b.drowned.resize(0);
  RootReport report;
  report.signal = load_flux(w, task.band, s, x, b);
  report.signal = std::sqrt(report.signal);
  report.high = upper_bound(w, task.band, s, banded);
  report.low = lower_bound(w, task.band, s, report.high, task.observer, banded, b);
  if (!(report.low > 0)) {
    if (!task.widest) {
      report.low = 0;
      report.truncation = std::numeric_limits<double>::infinity();
      s = nullptr;
      return report;
    }
    s = shift_until_definite(w, task, s, report, report.shift, banded, b);
    report.lost = s == nullptr;
    if (report.lost) return report;
    find_drowned(w, task.band, s, report.shift, b);
  }
  weigh_rows(w, task.band, s, b);
  report.truncation = truncation_error(w, task, task.band, s, report.shift, b);
  if (too_narrow(report.truncation, report.allowed(task), task.widest)) {
    s = task.may_leave ? leave_bins(w, task, s, report.allowed(task), report, banded, b) : nullptr;
  }
  return report;
}

}  // namespace

RootReport root_bounds(const Windows& w, const RootTask& task, const double* s, const double* x,
                       const BandedKernels& banded, RootBuffers& b) {
  RootReport report = examine(w, task, s, x, banded, b);
  if (s != nullptr) report.band = task.band;
  return report;
}

RootReport square_root(const Windows& w, const RootTask& task, const double* s, const double* x,
                       const BandedKernels& banded, RootBuffers& b) {
  RootReport report = examine(w, task, s, x, banded, b);
  if (s == nullptr) return report;
  report.band = narrow_band(w, task, s, report.shift, report.allowed(task), banded, report, b);
  take_poles(w, task, report.band < task.band ? b.narrow.data() : s, banded, report, b);
  report.lost = !is_solution(report.root_error());
  return report;
}

}  // namespace fiberloom::exact
