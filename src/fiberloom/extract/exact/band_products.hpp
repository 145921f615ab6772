// SPDX-License-Identifier: BSD-3-Clause
// Products of banded matrices that need not be symmetric, kLanes of them at a time, one table of
// kernels for each ISA level.
#pragma once

#include "fiberloom/foundation.hpp"
#include "loom/simd/isa.hpp"

namespace fiberloom::exact {

/// Entry (j, j + e), |e| <= width, of every lane is at data + (j step + width + e) kLanes; entries
/// whose column is outside the matrix are zero.
template <class T>
struct Band {
  T* data;
  int width;
  int step;  ///< from row to row, 2 width + 1 at least
  [[nodiscard]] T* at(int j, int e) const {
    return data + (static_cast<long>(j) * step + width + e) * kLanes;
  }
};

struct BandProducts {
  /// out = a b as far as out's band goes (4 at least), for n rows.
  void (*product)(int n, Band<const double> a, Band<const double> b, Band<double> out);
  /// sum += c a, n doubles (a multiple of kLanes).
  void (*add_scaled)(long n, double c, const double* a, double* sum);
};

[[nodiscard]] const BandProducts& band_products(Isa isa);

}  // namespace fiberloom::exact
