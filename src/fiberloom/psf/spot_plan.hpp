// SPDX-License-Identifier: BSD-3-Clause
// A PSF on one wavelength grid, packed for the spot kernel: coefficients fibre by fibre, Legendre
// values bin by bin (they do not depend on the fibre). Made once a frame, read by all threads.
#pragma once

#include <cstdint>
#include <vector>

#include "fiberloom/psf/psf_model.hpp"
#include "loom/base/array.hpp"
#include "loom/simd/isa.hpp"

namespace fiberloom {

/// Order of the series of a fibre: x, y, sigma_x, sigma_y, GH-i-j (i fastest), the five of the
/// tails; where there is a second core its sigma_x, sigma_y and GH-i-j, then where the first is
/// cut.
struct SpotPlan {
  int nx = 0, ny = 0;    ///< stamp
  int stride = 0;        ///< doubles from row to row of a stored spot
  int float_stride = 0;  ///< floats from row to row of a float32 one
  int degree_x = 0, degree_y = 0;
  int hsize_x = 0, hsize_y = 0;  ///< where `shape` is null
  int npix_x = 0, npix_y = 0;
  int nfiber = 0, nwave = 0, nwave_padded = 0;  ///< padded to a multiple of kFloatLanes
  int nseries = 0, ncoef = 0;
  bool has_tails = false;
  std::shared_ptr<const SpotShape> shape;  ///< of PsfModel
  bool of_images = false;                  ///< the shape's spots are sums of images
  bool two_cores = false;                  ///< the shape's spots are two cores and tails
  int second_degree_x = 0, second_degree_y = 0;
  /// Fibres on grids of their own, from basis_first on: the bases of one fibre after the other
  /// (nbases of them); else there is one, which all share.
  int nbases = 1, basis_first = 0;
  std::vector<double> wave_aa;  ///< [nbases][nwave_padded] of spots that are images
  std::vector<int> domain;      ///< [nseries]: which wavelength domain
  int ndomain = 0;
  std::vector<int> used;  ///< [nseries]: coefficients from here on are zero for every fibre
  Buffer<double> coef;    ///< [nfiber][nseries][ncoef]
  Buffer<double> basis;   ///< [nbases][ndomain][ncoef][nwave_padded]: P_k(u(lambda))
  Buffer<float> float_coef, float_basis;  ///< the same, rounded

  [[nodiscard]] bool operator==(const SpotPlan&) const = default;
  [[nodiscard]] std::size_t coef_of(int fiber) const noexcept {
    return static_cast<std::size_t>(fiber) * static_cast<std::size_t>(nseries * ncoef);
  }
  /// The first series of the tails, and of what follows them.
  [[nodiscard]] int tail_series() const noexcept { return 4 + (degree_x + 1) * (degree_y + 1); }
  [[nodiscard]] int second_series() const noexcept { return tail_series() + 5; }
  [[nodiscard]] int cut_series() const noexcept {
    return second_series() + 2 + (second_degree_x + 1) * (second_degree_y + 1);
  }
  /// Which of the bases is a fibre's.
  [[nodiscard]] std::size_t base_of(int fiber) const noexcept {
    return nbases == 1 ? 0 : static_cast<std::size_t>(fiber - basis_first);
  }
  /// Of spots that are images.
  [[nodiscard]] double wave_of(int fiber, std::size_t bin) const noexcept {
    return wave_aa[base_of(fiber) * static_cast<std::size_t>(nwave_padded) + bin];
  }
  [[nodiscard]] std::size_t basis_of(int fiber) const noexcept {
    return base_of(fiber) * static_cast<std::size_t>(ndomain * ncoef) *
           static_cast<std::size_t>(nwave_padded);
  }
  [[nodiscard]] const double* basis_row(int fiber, int which_domain, int k) const noexcept {
    return basis.data() + basis_of(fiber) +
           static_cast<std::size_t>(which_domain * ncoef + k) *
               static_cast<std::size_t>(nwave_padded);
  }
  /// Doubles of a stored spot, with room for the last row to be written in whole packs.
  [[nodiscard]] std::size_t spot_size() const noexcept {
    return static_cast<std::size_t>(ny) * static_cast<std::size_t>(stride) + kLanes;
  }
  [[nodiscard]] std::size_t float_spot_size() const noexcept {
    return static_cast<std::size_t>(ny) * static_cast<std::size_t>(float_stride) + kFloatLanes;
  }
};

[[nodiscard]] SpotPlan make_spot_plan(const PsfModel& psf, const std::vector<double>& wave_aa);
/// The same with a grid for each of the fibres from first_fiber on; the others have no place in it.
[[nodiscard]] SpotPlan make_spot_plan(const PsfModel& psf,
                                      const std::vector<std::vector<double>>& wave_of_fiber_aa,
                                      int first_fiber);

/// Where the spots of one fibre fall. Computed in one place and without FMA, since a corner is a
/// decision (floor) and must not depend on the ISA level.
struct FiberTrace {
  std::vector<double> x, y;  ///< [nwave_padded] centres, pixels
  std::vector<int> x0, y0;   ///< [nwave_padded] corners of the stamps
  std::vector<int> frame;    ///< [nwave_padded] x0 rounded down to a multiple of kLanes
  std::vector<std::uint8_t>
      live;  ///< [nwave_padded] 1 when the stamp touches the CCD and the PSF is sane
  // What the kernels read, all zero where a bin is not live:
  std::vector<double> edge_x, edge_y;  ///< [nwave_padded] lower edge of the stamp minus the centre
  std::vector<float> float_edge_x, float_edge_y;
  std::vector<float> lit;  ///< [nwave_padded] live
};

/// `column` rounded down to a multiple of `lanes`, a power of two.
[[nodiscard]] constexpr int frame_of(int column, int lanes) noexcept {
  return column & ~(lanes - 1);
}

/// Bins beyond the first one, outward from the middle of the PSF's domain, whose stamp has left the
/// CCD are not live: a Legendre series extrapolated further may fold back.
[[nodiscard]] FiberTrace trace_fiber(const SpotPlan& plan, int fiber);

/// Eight spots: bins j0 .. j0 + 7 of a fibre, bin j0 + i at out[i], each with room for spot_size()
/// doubles and normalised to sum 1 over its whole stamp, all zero when not live. Exactly
/// spot_reference() up to rounding. A stored spot is ny rows of `stride` columns, the first being
/// CCD column `frame`: with all frames on the same grid of packs, every load of the pixel kernels
/// is aligned. Columns outside the stamp are zero.
using SpotKernel = void (*)(const SpotPlan& plan, int fiber, int j0, const FiberTrace& trace,
                            double* const* out);

/// Sixteen spots from bin j0 (a multiple of kFloatLanes) in float32, for diagnostics: each within
/// 1e-6 of the sum, bin j0 + i at out + i float_spot_size(). Rows of `float_stride` columns, the
/// first being frame_of(x0, kFloatLanes).
using FloatSpotKernel = void (*)(const SpotPlan& plan, int fiber, int j0, const FiberTrace& trace,
                                 float* out);

struct SpotKernels {
  SpotKernel spots;
  FloatSpotKernel float_spots;
};
[[nodiscard]] const SpotKernels& spot_kernels(Isa isa);

/// Eight spots, one behind the other: out[kLanes][spot_size()].
inline void make_spots(SpotKernel kernel, const SpotPlan& plan, int fiber, int j0,
                       const FiberTrace& trace, double* out) {
  double* each[kLanes];
  for (std::size_t i = 0; i < kLanes; ++i) each[i] = out + i * plan.spot_size();
  kernel(plan, fiber, j0, trace, each);
}

}  // namespace fiberloom
