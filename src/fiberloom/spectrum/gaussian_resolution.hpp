// SPDX-License-Identifier: BSD-3-Clause
// Resolution matrices of spectra of which only the width is known. Knows no files.
#pragma once

#include <span>

#include "fiberloom/foundation.hpp"
#include "loom/base/array.hpp"

namespace fiberloom {

/// Widest band: sigma of a dozen bins.
inline constexpr std::size_t kMostGaussianDiagonals = 101;

/// R of Gaussians, [nspec][ndiag][nwave] as Spectra::resolution: bin j spreads over its neighbours
/// with sigma[s][j] Angstrom, 4 sigma far, and keeps its light: sum_i R_ij width_i = width_j. A bin
/// whose sigma is not positive and finite stays where it is. `wave`: two or more, increasing.
/// Throws kWrongShape where more than kMostGaussianDiagonals are needed.
[[nodiscard]] Array3D<float> gaussian_resolution(std::span<const double> wave,
                                                 const Array2D<double>& sigma_aa);

}  // namespace fiberloom
