// SPDX-License-Identifier: BSD-3-Clause
// Eigenvalues and vectors of small dense symmetric matrices. Knows no physics.
#pragma once

#include <vector>

#include "loom/base/array.hpp"

namespace loom {

/// A = sum_k value[k] vector_k vector_k^T, values falling; vector k is row k of `vectors`, its
/// element of largest size positive.
struct SymmetricEigen {
  std::vector<double> values;
  Array2D<double> vectors;
};

/// Cyclic Jacobi: accurate to a few eps |A|, O(n^3) a sweep, some ten sweeps; for n up to a few
/// hundred. `a` is square and symmetric.
[[nodiscard]] SymmetricEigen symmetric_eigen(Array2D<double> a);

}  // namespace loom
