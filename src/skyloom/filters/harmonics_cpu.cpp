// SPDX-License-Identifier: BSD-3-Clause
// Plain loops over a block that the compiler takes apart into lanes of this ISA level by itself
// (compiled once for each).
#include "skyloom/filters/harmonics_kernels.hpp"

namespace skyloom::FIBERLOOM_ISA_NS {
namespace {

constexpr std::size_t kBlock = kTemplateBlock;
constexpr std::size_t kPartial = 8;  // sums side by side, in a fixed order on every level

void make_trends(const TemplateBlock& of, const double* time) {
  for (std::size_t k = 0; k < of.trends; ++k) {
    double* const out = of.rows + k * kBlock;
    const auto order = static_cast<double>(k);
    for (std::size_t i = 0; i < kBlock; ++i) {
      if (k == 0) out[i] = 1;
      if (k == 1) out[i] = time[i];
    }
    if (k < 2) continue;
    const double* const one = out - kBlock;
    const double* const two = one - kBlock;
    const double a = (2 * order - 1) / order, b = (order - 1) / order;
    for (std::size_t i = 0; i < kBlock; ++i) out[i] = a * time[i] * one[i] - b * two[i];
  }
  for (std::size_t k = 0; k < of.trends; ++k) {
    for (std::size_t i = of.n; i < kBlock; ++i) of.rows[k * kBlock + i] = 0;
  }
}

void make(const TemplateBlock& of) {
  double time[kBlock], c[kBlock], s[kBlock];
  for (std::size_t i = 0; i < kBlock; ++i) {
    time[i] = of.first_time + of.time_step * static_cast<double>(static_cast<int>(i));
    c[i] = s[i] = 0;
  }
  for (std::size_t i = 0; i < of.n; ++i) {
    c[i] = of.cosine[i];
    s[i] = of.sine[i];
  }
  make_trends(of, time);
  double* const first = of.rows + of.trends * kBlock;
  for (std::size_t m = 0; m < of.harmonics; ++m) {
    double* const cosine = first + 2 * m * kBlock;
    double* const sine = cosine + kBlock;
    const double* const before = m == 0 ? nullptr : cosine - 2 * kBlock;
    if (before == nullptr) {
      for (std::size_t i = 0; i < kBlock; ++i) cosine[i] = c[i];
      for (std::size_t i = 0; i < kBlock; ++i) sine[i] = s[i];
      continue;
    }
    const double* const beside = before + kBlock;
    for (std::size_t i = 0; i < kBlock; ++i) {
      const double a = before[i], b = beside[i];
      cosine[i] = a * c[i] - b * s[i];
      sine[i] = b * c[i] + a * s[i];
    }
  }
  if (!of.drift) return;
  const double* even = first;
  double* drift = first + 2 * of.harmonics * kBlock;
  for (std::size_t m = 0; m < 2 * of.harmonics; ++m, even += kBlock, drift += kBlock) {
    for (std::size_t i = 0; i < kBlock; ++i) drift[i] = time[i] * even[i];
  }
}

void add_products(const double* rows, std::size_t columns, const double* values, double* sums) {
  for (std::size_t k = 0; k < columns; ++k) {
    const double* const row = rows + k * kBlock;
    double parts[kPartial] = {};
    for (std::size_t i = 0; i < kBlock; i += kPartial) {
      for (std::size_t l = 0; l < kPartial; ++l) parts[l] += row[i + l] * values[i + l];
    }
    sums[k] += ((parts[0] + parts[4]) + (parts[2] + parts[6])) +
               ((parts[1] + parts[5]) + (parts[3] + parts[7]));
  }
}

void mix(const double* rows, std::size_t columns, const double* x, double* out) {
  double sum[kBlock] = {};
  for (std::size_t k = 0; k < columns; ++k) {
    const double* const row = rows + k * kBlock;
    for (std::size_t i = 0; i < kBlock; ++i) sum[i] += x[k] * row[i];
  }
  for (std::size_t i = 0; i < kBlock; ++i) out[i] = sum[i];
}

}  // namespace

extern const HarmonicKernels kHarmonics;
const HarmonicKernels kHarmonics{make, add_products, mix};

}  // namespace skyloom::FIBERLOOM_ISA_NS
