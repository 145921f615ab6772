// SPDX-License-Identifier: BSD-3-Clause
// The PSF as numbers: traces and Gauss-Hermite shape of every fibre as Legendre series in
// wavelength. Takes structs, not files (formats/psf_file.hpp reads them).
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "fiberloom/psf/spot_shape.hpp"
#include "loom/base/array.hpp"

namespace fiberloom {

/// One parameter of all fibres: value(fibre, lambda) = sum_k coef(fibre, k) P_k(u),
/// u = 2 (lambda - wave_min) / (wave_max - wave_min) - 1; outside [-1, 1] it is extrapolated.
struct LegendreSeries {
  double wave_min = 0, wave_max = 1;  ///< Angstrom
  Array2D<double> coef;               ///< [nfiber][ncoef]

  [[nodiscard]] double operator()(std::size_t fiber, double wave_aa) const noexcept;
};

/// Lorentzian-like wings, evaluated at pixel centres and added to the core before clipping:
/// amp r2 / (core^2 + r2)^(1 + index/2), r2 = (dx xscale)^2 + (dy yscale)^2 (specter's formula).
struct PsfTails {
  LegendreSeries amp, core, xscale, yscale, index;
};

/// Narrower than this, in pixels, a spot is none.
inline constexpr double kLeastSigma = 0.05;
/// Fit status of a fibre whose coefficients are not finite, as specex writes it.
inline constexpr int kStatusNan = 3;

/// A PSF: traces, and spots of Gauss-Hermite shape or of another. Pixel coordinates: an integer is
/// a pixel centre; the CCD spans (-0.5, N-0.5).
struct PsfModel {
  int npix_x = 0, npix_y = 0;    ///< CCD size, pixels
  int hsize_x = 8, hsize_y = 5;  ///< the spot is (2 hsize_x + 1) x (2 hsize_y + 1) pixels
  int gh_deg_x = 6, gh_deg_y = 6;
  LegendreSeries x, y;  ///< trace, pixels
  LegendreSeries sigma_x, sigma_y;
  std::vector<LegendreSeries> gh;  ///< coefficient GH-i-j at [j * (gh_deg_x + 1) + i]
  bool has_tails = false;          ///< tails are there and switched on
  PsfTails tails;
  std::vector<int> bundle;  ///< bundle number of each fibre, -1 none; empty: not in the file
  std::vector<int> status;  ///< fit status of each fibre, 0 good; empty: not in the file
  double psferr = 0.01;     ///< fractional model error (keyword PSFERR, else 0.01)
  int fiber_min = 0;        ///< FIBERMIN of the file

  [[nodiscard]] int nfiber() const noexcept { return static_cast<int>(x.coef.rows()); }
  /// Spots of another kind than GAUSS-HERMITE; null: that, of the series above. With it sigma_x and
  /// sigma_y are rough and say which fibres have a spot at all; gh and tails are empty.
  std::shared_ptr<const SpotShape> shape;

  [[nodiscard]] int stamp_nx() const noexcept { return shape ? shape->nx() : 2 * hsize_x + 1; }
  [[nodiscard]] int stamp_ny() const noexcept { return shape ? shape->ny() : 2 * hsize_y + 1; }
  /// First column of the stamp of a spot centred there, a number that an int holds.
  [[nodiscard]] int corner_x(double center) const noexcept;
  [[nodiscard]] int corner_y(double center) const noexcept;
};

/// Rows that an Angstrom takes on the CCD.
[[nodiscard]] double rows_per_aa(const PsfModel& psf, std::size_t fiber, double wave_aa);

/// One spot: nx x ny values (row-major, x fastest) whose corner is CCD pixel (x0, y0). Sums to 1
/// over the whole stamp; not cropped at the CCD. (x0, y0) = (corner_x(X), corner_y(Y)), of
/// Gauss-Hermite spots floor(X - hsize_x + 0.5).
struct Spot {
  int x0 = 0, y0 = 0, nx = 0, ny = 0;
  std::vector<double> value;
};

/// The straightforward evaluation, from the definition; the oracle of the vectorised kernels.
/// A spot whose sigma is not positive or whose centre is not finite is all zero.
[[nodiscard]] Spot spot_reference(const PsfModel& psf, std::size_t fiber, double wave_aa);
/// Sum of a Gauss-Hermite spot before it is divided by it, what is negative cut; 0 where there is
/// no spot.
[[nodiscard]] double stamp_light(const PsfModel& psf, std::size_t fiber, double wave_aa);

}  // namespace fiberloom
