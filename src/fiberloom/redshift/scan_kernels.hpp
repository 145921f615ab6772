// SPDX-License-Identifier: BSD-3-Clause
// The hot loops of a scan as a table of functions, one table for each ISA level. Everywhere a lane
// is a redshift: kLanes of them side by side, so that sums run over pixels in the order of the
// pixels, whatever the level and the number of threads.
//
// Normal equations of one fit: M_ab = sum_i w_i B_a(i) B_b(i), y_a = sum_i w_i f_i B_a(i). An array
// of them is [normal_size(nb)][kLanes]: M's upper triangle row by row, then y.
#pragma once

#include <cstddef>

#include "loom/base/scalar_lane.hpp"
#include "loom/simd/isa.hpp"

namespace fiberloom::redshift {

using loom::Isa;
using loom::kLanes;

/// Most vectors of a template.
inline constexpr int kMostBasis = 32;

[[nodiscard]] FL_LANE_HD constexpr int triangle(int nb) noexcept { return nb * (nb + 1) / 2; }
[[nodiscard]] FL_LANE_HD constexpr int normal_size(int nb) noexcept { return triangle(nb) + nb; }

/// Targets that gather() takes side by side, and columns of products that it takes at a time.
inline constexpr int kGatherTargets = 4, kGatherColumns = 6;
[[nodiscard]] FL_LANE_HD constexpr int column_groups(int columns) noexcept {
  return (columns + kGatherColumns - 1) / kGatherColumns;
}

/// Vectors that are linear between knots, with their integrals. A knot's row holds its x, then for
/// each vector the integral up to it, the value, and half the slope after it, so that the integral
/// up to any point takes one row: whole cache lines, since a scan waits for little else. Rows begin
/// where lines do.
struct KnotTable {
  int nb = 0;
  long last = 0;                 ///< the last knot that another one follows
  long stride = 0;               ///< doubles from row to row
  const double* rows = nullptr;  ///< [last + 2][stride]: integral[nb], x, value[nb], half slope[nb]
  /// Where knots are equally spaced in x or in log10 x: knot = (x - first) * per. Elsewhere per is
  /// 0 and the knot is sought.
  double first = 0, per = 0;
  bool in_log10 = false;
};

/// Where a row has x, values and half slopes.
[[nodiscard]] constexpr int knot_x(int nb) noexcept { return nb; }
[[nodiscard]] constexpr int knot_value(int nb) noexcept { return nb + 1; }
[[nodiscard]] constexpr int knot_slope(int nb) noexcept { return 2 * nb + 1; }
/// Doubles of a row: a multiple of a cache line, and room for packs that are loaded past its end.
[[nodiscard]] constexpr long knot_stride(int nb) noexcept { return (1 + 3 * nb + 7) / 8 * 8; }

/// Brightnesses at which evidence() is taken: exp(0.4) apart, around the one that fits.
inline constexpr int kBrightnesses = 7;
[[nodiscard]] FL_LANE_HD constexpr int evidence_doubles(int nb) noexcept {
  return 2 * nb + triangle(nb);
}

/// A pivot that rounding alone makes, of sums in double precision and of gather()'s.
inline constexpr double kLeastPivot = 1e-13, kLeastGatheredPivot = 1e-7;

struct ScanKernels {
  /// Means over pixels, out[edges - 1][nb][kLanes], of what the table holds, at kLanes redshifts.
  /// log_edges: log10 of edges. Precondition: edges / (1 + z) lie within the table.
  void (*rebin)(const KnotTable& table, const double* z, long count, const double* edges,
                const double* log_edges, double* out);
  /// out[count][nb][kLanes]: B = R T. rows [count][ndiag]; t the pack at the first pixel minus
  /// ndiag / 2. count a multiple of kTile.
  void (*blur)(int nb, int ndiag, long count, const double* rows, const double* t, double* out);
  /// normal += those of `count` pixels (a multiple of kTile); tiles without weight are skipped.
  void (*accumulate)(int nb, int ndiag, long count, const double* rows, const double* weight,
                     const double* flux, const double* t, double* normal);
  /// Products B_a B_b, a <= b, of B_a = scale[a] R T (blur) of `count` pixels in groups of
  /// kGatherColumns columns: out [column_groups][count][kGatherColumns][kLanes], a zero after an
  /// odd number of them; then the B_a themselves likewise.
  void (*products)(int nb, int ndiag, long count, const double* rows, const double* t,
                   const double* scale, float* out);
  /// normal[t] += sum_i value[i][t] column[i] for kGatherTargets targets t, one group of columns
  /// (`columns` of them are stored from `normal` + first * kLanes on; stride doubles between
  /// targets). value [count][kGatherTargets]. Sums in single precision over the count, which is a
  /// tile's: its rounding is some 1e-7 of them, whatever the number of tiles.
  void (*gather)(long count, int columns, const float* value, const float* group, double* normal,
                 long stride);
  /// Solves M c = y by Cholesky after scaling M's diagonal to 1. A vector whose pivot falls to
  /// `least_pivot` says nothing new and gets c = 0. gain[kLanes] = y c, so that chi2 = f W f -
  /// gain; c [nb][kLanes]; rank[kLanes] the vectors that count.
  void (*solve)(int nb, const double* normal, double least_pivot, double* gain, double* c,
                double* rank);
  /// u[nb][kLanes] += sum_i pull[i] t[i] over `count` pixels: of sky_continuum.hpp.
  void (*project)(int nb, long count, const double* pull, const double* t, double* u);
  /// M -= beta u u^T, y -= beta weighted_flux u.
  void (*take_out)(int nb, const double* u, double beta, double weighted_flux, double* normal);
  /// Integrals over coefficients with a Gaussian prior (evidence.hpp). table: of each component
  /// mean[nb], the precision's triangle, precision x mean [nb] (evidence_doubles(nb) in all).
  /// out [component][kBrightnesses][3][kLanes]: the gain of the penalised fit, and the ratio of the
  /// determinants of M + precision and diag(precision), in two factors.
  void (*evidence)(int nb, const double* normal, int components, const double* table, double* out);
};

[[nodiscard]] const ScanKernels& scan_kernels(Isa isa);
/// The same text on ScalarLane, one lane after the other: the oracle of the others.
[[nodiscard]] const ScanKernels& scan_kernels_reference();

}  // namespace fiberloom::redshift
