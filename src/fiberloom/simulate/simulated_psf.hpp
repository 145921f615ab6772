// SPDX-License-Identifier: BSD-3-Clause
// A DESI-like PSF made from a few numbers: bundles of fibres with gaps, curved traces, a
// Gauss-Hermite shape that varies over the CCD. Must not know of files or spectra.
#pragma once

#include <cstdint>
#include <vector>

#include "fiberloom/psf/psf_model.hpp"

namespace fiberloom {

/// The defaults are a DESI r camera. All lengths are CCD pixels unless the name says otherwise.
struct SimulatedPsfOptions {
  int nfiber = 500;
  int bundle_size = 25;
  int npix_x = 4114, npix_y = 4128;
  double wave_center_aa = 6690;  ///< falls near the middle row
  double dispersion_aa = 0.53;   ///< mean Angstrom per pixel along y
  double pitch = 7.27;           ///< between the fibres of a bundle
  double gap = 17.9;             ///< from the last fibre of a bundle to the first of the next
  double trace_curvature = 10;   ///< how far the outermost traces bend in x
  double smile = 110;            ///< how far the outermost fibres lie above the central one in y
  double sigma_x = 1.034, sigma_y = 1.121;
  /// > 0 overrides sigma_x: the normalised overlap exp(-pitch^2 / (4 sigma_x^2)) of neighbouring
  /// Gaussian profiles, e.g. 0.05 (DESI: about 1e-4).
  double crosstalk = 0;
  double gh_scale = 1;  ///< 1: Gauss-Hermite terms of DESI's size; 0: a pure Gaussian
  int gh_degree = 6;    ///< 0..6, in x and in y
  int hsize_x = 8, hsize_y = 5;
  double psferr = 0.01;
  std::uint64_t seed = 1;  ///< of the small irregularities from fibre to fibre
};

/// Options of DESI's camera band 'b', 'r' or 'z' (b: 4096 x 4096, r and z: 4128 rows x 4114
/// columns); every fibre covers camera_wave_grid(band) and 40 Angstrom on both sides of it.
/// Throws kUsage for another band.
[[nodiscard]] SimulatedPsfOptions camera_psf_options(char band);

/// The production grid of a band: b 3600-5800, r 5760-7620, z 7520-9824 by 0.8 Angstrom.
[[nodiscard]] std::vector<double> camera_wave_grid(char band);

/// Options of a CCD just large enough for nfiber fibres and the wavelengths [wave_min, wave_max]
/// plus margin_aa on both sides; smile and curvature shrink with the CCD.
[[nodiscard]] SimulatedPsfOptions small_psf_options(int nfiber, double wave_min_aa,
                                                    double wave_max_aa, double margin_aa = 50,
                                                    double dispersion_aa = 0.53);

/// Builds the PSF. GH-0-0 is 1, tails are present but off. Throws kUsage when the options make no
/// sense (no fibre, fibres beyond the CCD, a width that is not positive).
[[nodiscard]] PsfModel make_psf(const SimulatedPsfOptions& options = {});

/// The same with tails switched on, alike everywhere: amplitude r2 / (1 + r2)^(1 + index / 2).
[[nodiscard]] PsfModel with_tails(PsfModel psf, double amplitude, double index = 2);

}  // namespace fiberloom
