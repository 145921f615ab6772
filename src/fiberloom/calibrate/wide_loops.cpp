// SPDX-License-Identifier: BSD-3-Clause
// Picks the loops of a level.
#include "fiberloom/calibrate/wide_loops.hpp"

#include <vector>

#include "loom/simd/isa_tables.hpp"

namespace fiberloom {

LOOM_ISA_TABLES(calibrate::WideLoops, kWideLoops, calibrate::wide_loops)

namespace calibrate {

void multiply_wide(Banded<const float> r, std::span<const double> x, std::span<double> y) {
  wide_loops(loom::active_isa())
      .multiply(r.data, static_cast<long>(r.ndiag), static_cast<long>(r.n), x.data(), y.data());
}

Array2D<float> mean_matrix(const Array3D<float>& matrices) {
  const std::size_t size = matrices.rows() * matrices.cols();
  std::vector<double> sum(size, 0.0);
  const WideLoops& loops = wide_loops(loom::active_isa());
  for (std::size_t s = 0; s < matrices.planes(); ++s) {
    loops.add(static_cast<long>(size), &matrices(s, 0, 0), sum.data());
  }
  Array2D<float> out(matrices.rows(), matrices.cols());
  for (std::size_t i = 0; i < size; ++i) {
    out.data()[i] = static_cast<float>(sum[i] / static_cast<double>(matrices.planes()));
  }
  return out;
}

}  // namespace calibrate
}  // namespace fiberloom
