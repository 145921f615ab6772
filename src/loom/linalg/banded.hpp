// SPDX-License-Identifier: BSD-3-Clause
// Batched banded kernels as a table of functions, one table for each ISA level (banded_lane.hpp and
// congruence_lane.hpp have the contracts and the layout). Every call works on a whole pack of
// kLanes problems.
#pragma once

#include <array>

#include "loom/simd/isa.hpp"

namespace loom {

/// Half-bandwidths that kernels are compiled for; a matrix is padded up to the next one.
inline constexpr std::array<int, 7> kBands{8, 12, 16, 24, 32, 48, 64};
/// The smallest of kBands that holds `band`; throws kNumerical beyond the last.
[[nodiscard]] int round_up_band(int band);
/// Half-bandwidths of the coupling of two problems, likewise.
inline constexpr std::array<int, 7> kCouplings{4, 6, 8, 12, 16, 24, 32};
[[nodiscard]] int round_up_coupling(int half_width);

struct RootWork {
  double *l, *inv_d, *v1, *vx;  ///< [n][band], [n], [n], [n] lanes each
};

struct BandedKernels {
  void (*factor)(int band, int n, const double* matrix, const double* shift, double* l,
                 double* inv_d, double* min_pivot);
  void (*solve)(int band, int n, const double* l, const double* inv_d, double* rhs);
  void (*selected_inverse)(int band, int n, const double* l, const double* inv_d, int width,
                           double* z);
  void (*congruence)(int half_width, int n, const double* columns, const double* z, int band,
                     double* t, double* e);
  void (*largest_row_sum)(int band, int n, const double* matrix, double* largest);
  /// m -= e, n doubles (a multiple of kLanes).
  void (*subtract)(long n, const double* e, double* m);
  void (*root_pole)(int band, int n, const double* s, const double* t, const double* c,
                    const double* ones, const double* x, int nd, const RootWork& work, double* q,
                    double* q1, double* qx, double* min_pivot);
};

[[nodiscard]] const BandedKernels& banded_kernels(Isa isa);
/// The same text on ScalarLane, one lane after the other: the others' oracle, in the tests.
[[nodiscard]] const BandedKernels& banded_kernels_reference();

}  // namespace loom
