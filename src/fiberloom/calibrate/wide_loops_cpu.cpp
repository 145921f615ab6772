// SPDX-License-Identifier: BSD-3-Clause
// Plain loops that the compiler takes apart into lanes of this ISA level by itself (compiled once
// for each). Eleven diagonals, those of real spectra, are unrolled: sums stay in registers.
#include <utility>

#include "fiberloom/calibrate/wide_loops.hpp"

namespace fiberloom::FIBERLOOM_ISA_NS {
namespace {

using calibrate::BlockView;

constexpr long kUsual = 11;

/// Row i of R x, its terms from the first stored row to the last.
double row_times(const float* r, long ndiag, long n, const double* x, long i) {
  double sum = 0;
  for (long k = 0; k < ndiag; ++k) {
    const long j = i - k + ndiag / 2;
    if (j >= 0 && j < n) sum += static_cast<double>(r[k * n + j]) * x[j];
  }
  return sum;
}

void multiply(const float* r, long ndiag, long n, const double* x, double* __restrict__ y) {
  const long half = ndiag / 2, low = half < n ? half : n, high = n - half > low ? n - half : low;
  for (long i = 0; i < low; ++i) y[i] = row_times(r, ndiag, n, x, i);
  if (ndiag == kUsual) {
    for (long i = low; i < high; ++i) {
      double sum = 0;
#pragma GCC unroll 16
      for (long k = 0; k < kUsual; ++k) {
        const long j = i - k + kUsual / 2;
        sum += static_cast<double>(r[k * n + j]) * x[j];
      }
      y[i] = sum;
    }
  } else {
    for (long i = low; i < high; ++i) y[i] = row_times(r, ndiag, n, x, i);
  }
  for (long i = high; i < n; ++i) y[i] = row_times(r, ndiag, n, x, i);
}

void load(long count, const float* r, const double* shape, const double* gain, const double* weight,
          double* __restrict__ seen, double* __restrict__ weighted) {
  for (long j = 0; j < count; ++j) seen[j] = static_cast<double>(r[j]);
  if (shape != nullptr) {
    for (long j = 0; j < count; ++j) seen[j] *= shape[j];
  }
  if (gain != nullptr) {
    for (long j = 0; j < count; ++j) seen[j] *= gain[j];
  }
  for (long j = 0; j < count; ++j) weighted[j] = seen[j] * weight[j];
}

/// Diagonal D of the usual number.
template <long D>
void gram_usual(const BlockView& b, long end, double* __restrict__ a) {
  const double *x = b.weighted, *y = b.seen + D;
  const long pitch = b.pitch;
  for (long j = 0; j < end; ++j) {
    double sum = a[j];
#pragma GCC unroll 16
    for (long k = D; k < kUsual; ++k) sum += x[k * pitch + j] * y[(k - D) * pitch + j];
    a[j] = sum;
  }
}

void gram_any(const BlockView& b, long d, long end, double* __restrict__ a) {
  for (long k = d; k < b.ndiag; ++k) {  // row i = j + k - half of columns j and j + d
    const double *x = b.weighted + k * b.pitch, *y = b.seen + (k - d) * b.pitch + d;
    for (long j = 0; j < end; ++j) a[j] += x[j] * y[j];
  }
}

void gram(const BlockView& b, const long* ends, double* a, long stride) {
  if (b.ndiag == kUsual) {
    [&]<long... D>(std::integer_sequence<long, D...>) {
      (gram_usual<D>(b, ends[D], a + D * stride), ...);
    }
    (std::make_integer_sequence<long, kUsual>());
    return;
  }
  for (long d = 0; d < b.ndiag; ++d) gram_any(b, d, ends[d], a + d * stride);
}

void project(const BlockView& b, const double* data, double* __restrict__ y) {
  for (long k = 0; k < b.ndiag; ++k) {
    const double* x = b.weighted + k * b.pitch;
    for (long j = 0; j < b.columns; ++j) y[j] += x[j] * data[j + k];
  }
}

void add(long count, const float* from, double* __restrict__ to) {
  for (long j = 0; j < count; ++j) to[j] += static_cast<double>(from[j]);
}

}  // namespace

extern const calibrate::WideLoops kWideLoops;
const calibrate::WideLoops kWideLoops{multiply, load, gram, project, add};

}  // namespace fiberloom::FIBERLOOM_ISA_NS
