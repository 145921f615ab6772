// SPDX-License-Identifier: BSD-3-Clause
// N = A^T W A and y = A^T W p of one bundle, by diagonals.
#pragma once

#include <array>
#include <vector>

#include "fiberloom/extract/exact/geometry.hpp"
#include "fiberloom/extract/exact/kernels.hpp"
#include "fiberloom/extract/exact/recipe_lane.hpp"
#include "fiberloom/extract/exact/touched_packs.hpp"
#include "fiberloom/extract/exact/workspace.hpp"

namespace fiberloom::exact {

/// Pixels of the bundle as doubles, zero off the CCD; rows x pitch.
struct Strip {
  GrowBuffer<double> weight, pixel;
  long pitch = 0;
  int rows = 0, x0 = 0, y0 = 0;
  [[nodiscard]] StripView view() const { return {weight.data(), pixel.data(), pitch, x0, y0}; }
};
void load_strip(const CcdFrame& ccd, const BundleGeometry& geometry, const PixelKernels& kernels,
                Strip& strip);

/// Entry (f, j) x (f + r, j + a) of N is own(f, a)[j] for r = 0, a >= 0 and cross(r, f, a)[j] for r
/// >= 1, -cross_band <= a <= cross_band. Rows of `pitch` doubles with zero margins, so that [j + a]
/// may be read for every a.
struct NormalEquations {
  int nfiber = 0, nbin = 0, band = 0, reach = 1, cross_band = 0;
  long pitch = 0, margin = 0;
  double scale =
      1;  ///< median diagonal: rows that pad a window get it, so that they widen no spectrum
  GrowBuffer<double> own_, cross_, rhs_, phi_;

  /// Leaves zeros around the entries that assemble() writes. Windows reach up to least_margin bins
  /// over the ends and read zeros there.
  void resize(const BundleGeometry& geometry, int least_margin);
  [[nodiscard]] double* own(int f, int a) {
    return own_.data() + (f * (band + 1L) + a) * pitch + margin;
  }
  [[nodiscard]] const double* own(int f, int a) const {
    return own_.data() + (f * (band + 1L) + a) * pitch + margin;
  }
  [[nodiscard]] double* cross(int r, int f, int a) {
    return cross_.data() +
           (((r - 1L) * nfiber + f) * (2 * cross_band + 1) + cross_band + a) * pitch + margin;
  }
  [[nodiscard]] const double* cross(int r, int f, int a) const {
    return const_cast<NormalEquations*>(this)->cross(r, f, a);
  }
  [[nodiscard]] double* rhs(int f) { return rhs_.data() + f * pitch + margin; }
  [[nodiscard]] const double* rhs(int f) const { return rhs_.data() + f * pitch + margin; }
  /// Part of the spot on good pixels, (A^T [w > 0])_j.
  [[nodiscard]] double* phi(int f) { return phi_.data() + f * pitch + margin; }
  [[nodiscard]] const double* phi(int f) const { return phi_.data() + f * pitch + margin; }

 private:
  std::array<long, 6> zeroed_{};  ///< shape for which the surroundings are zero already
};

/// Fills n, resized before. Goes block by block along the bins and fibre by fibre within a block;
/// only the spots of neighbouring fibres over one block are ever kept, in `memory`. With `touched`
/// n is as assembled before, without priors, and becomes, to the bit, what weights ask for that
/// have changed under these packs alone.
void assemble(const SpotPlan& plan, const BundleGeometry& geometry, SpotKernel spots,
              const PixelKernels& kernels, const Strip& strip, GrowBuffer<double>& memory,
              NormalEquations& n, const TouchedPacks* touched = nullptr);

/// The diagonal of N, [fiber][bin].
void keep_diagonal(const NormalEquations& n, std::vector<double>& diagonal);
/// Makes the diagonal of N what was kept, and `more` in each place.
void set_diagonal(NormalEquations& n, const std::vector<double>& diagonal, double more = 0);

/// Adds the prior of unconstrained bins, and to all others `ridge` and `weak_prior` times the
/// median diagonal; returns that median.
void add_prior(NormalEquations& n, double ridge, double weak_prior);

}  // namespace fiberloom::exact
