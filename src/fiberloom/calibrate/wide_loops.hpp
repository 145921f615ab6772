// SPDX-License-Identifier: BSD-3-Clause
// The long loops of the calibration as a table of functions, one table for each ISA level. A lane
// is a bin: sums over diagonals and fibres run in their order, so that all levels give the same
// bytes. Plain pointers alone: what they mean is said by who calls.
#pragma once

#include <span>

#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/banded.hpp"
#include "loom/simd/isa.hpp"

namespace fiberloom::calibrate {

/// Of one fibre, a block of columns of G R T and of W G R T by diagonals [ndiag][pitch].
struct BlockView {
  long ndiag = 0, pitch = 0, columns = 0;
  double *seen = nullptr, *weighted = nullptr;
};

struct WideLoops {
  /// y = R x (banded.hpp).
  void (*multiply)(const float* r, long ndiag, long n, const double* x, double* y);
  /// One stored row of a block: seen = r shape gain, weighted = seen weight. shape, gain: may be
  /// null; all from the row's first column on.
  void (*load)(long count, const float* r, const double* shape, const double* gain,
               const double* weight, double* seen, double* weighted);
  /// a[d][j] += sum_k weighted[k][j] seen[k - d][j + d] for the block's first ends[d] columns;
  /// rows of a are `stride` apart.
  void (*gram)(const BlockView& block, const long* ends, double* a, long stride);
  /// y[j] += sum_k weighted[k][j] data[j + k].
  void (*project)(const BlockView& block, const double* data, double* y);
  /// to += from
  void (*add)(long count, const float* from, double* to);
};

[[nodiscard]] const WideLoops& wide_loops(loom::Isa isa);

/// y = R x of banded.hpp, in the widest lanes that there are.
void multiply_wide(Banded<const float> r, std::span<const double> x, std::span<double> y);
/// The mean of all matrices, a sum in their order; row j + k - half of column j.
[[nodiscard]] Array2D<float> mean_matrix(const Array3D<float>& matrices);

}  // namespace fiberloom::calibrate
