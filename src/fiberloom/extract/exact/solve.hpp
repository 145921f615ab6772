// SPDX-License-Identifier: BSD-3-Clause
// N x = y of one bundle: conjugate gradients, preconditioned with each fibre's banded factor.
#pragma once

#include "fiberloom/extract/exact/normal_equations.hpp"
#include "loom/linalg/banded.hpp"

namespace fiberloom::exact {

struct SolveReport {
  int iterations = 0;
  /// sqrt(r^T M^-1 r) at the end: the error of x in units of its sigma; infinite where the matrix
  /// turned out not to be positive definite, NaN where the numbers were none.
  double error_sigma = 0;
};

struct SolveWork {
  GrowBuffer<double> matrix, l, inv_d, packed;  // factors, eight fibres a pack
  GrowBuffer<double> unread;
  GrowBuffer<double> x, r, z, p, q;
  [[nodiscard]] const double* solution(int fiber, const NormalEquations& n) const {
    return x.data() + fiber * n.pitch + n.margin;
  }
};

/// Where a solve begins: from the right-hand side alone, or from what `work` has of a problem that
/// was almost this one.
enum class SolveFrom { kNothing, kLast };

/// Solves until the error estimate is below `tolerance_sigma`, no longer falls, or after
/// `most_iterations`: how far it came is in the report. Sums in fixed order. Ends with kInterrupted
/// where `observer` (may be null) is asked to stop.
SolveReport solve_bundle(const NormalEquations& n, const BandedKernels& banded,
                         const PixelKernels& kernels, double tolerance_sigma, int most_iterations,
                         const Observer* observer, SolveWork& work,
                         SolveFrom from = SolveFrom::kNothing);

/// q = N p for vectors laid out as n.rhs_ (margins zero).
void apply(const NormalEquations& n, const PixelKernels& kernels, const double* p, double* q);

}  // namespace fiberloom::exact
