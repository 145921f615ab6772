// SPDX-License-Identifier: BSD-3-Clause
// N x = y of one bundle. Where only neighbours share light, every second fibre is eliminated, since
// those have nothing to do with one another: conjugate gradients, preconditioned with each fibre's
// banded factor, over the rest take half as many iterations.
#pragma once

#include "fiberloom/extract/exact/normal_equations.hpp"
#include "fiberloom/extract/exact/recipe.hpp"
#include "loom/linalg/banded.hpp"

namespace fiberloom::exact {

struct SolveReport {
  int iterations = 0;
  /// sqrt(r^T M^-1 r) at the end (r of the iterated fibres; the others' is zero): the error of x in
  /// units of its sigma; infinite where the matrix turned out not to be positive definite, NaN
  /// where the numbers were none.
  double error_sigma = 0;
};

struct OwnFactors {
  GrowBuffer<double> l, inv_d;  ///< eight fibres a pack
};

struct SolveWork {
  OwnFactors own, own_between;
  GrowBuffer<double> matrix, packed, unread;
  GrowBuffer<double> x, r, z, p, q, own_p;
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

enum class Terms { kAll, kCouplings };  ///< all of N, or without each fibre's own block

/// q = N p in the rows of these fibres, for vectors laid out as n.rhs_ (margins zero).
void apply(const NormalEquations& n, const PixelKernels& kernels, EverySo rows, Terms terms,
           const double* p, double* q);

}  // namespace fiberloom::exact
