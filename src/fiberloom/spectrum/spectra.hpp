// SPDX-License-Identifier: BSD-3-Clause
// The noun that every step shares: spectra with errors, mask, resolution and the targets' rows.
// Knows neither where they come from nor what files hold them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/table.hpp"
#include "loom/base/array.hpp"

namespace fiberloom {

/// Bits of Spectra::mask (desispec's specmask) that an extraction sets.
enum SpecMask : std::uint32_t {
  kSomeBadPix = 1U << 0,  ///< more than half of the light fell on bad pixels
  kAllBadPix = 1U << 1,   ///< no information: flux = ivar = 0
  kCosmic = 1U << 2,      ///< light was lost to pixels dropped as outliers
  kBad2dFit = 1U << 7,    ///< chi2pix far above its neighbours
};

/// Spectra on one wavelength grid: the fibres of a camera, or the targets of a coadd in one.
struct Spectra {
  std::vector<double> wave;     ///< [nwave] Angstrom
  Array2D<double> flux;         ///< [nspec][nwave], per Angstrom, re-convolved by the resolution
  Array2D<double> ivar;         ///< [nspec][nwave]; 0 where there is no information
  Array2D<std::uint32_t> mask;  ///< [nspec][nwave]; empty: none
  /// [nspec][ndiag][nwave], ndiag odd: (s, k, j) = R[j - ndiag/2 + k, j] (banded.hpp); empty: none
  Array3D<float> resolution;
  std::optional<Table> fibermap;  ///< a row for each spectrum
  std::optional<Table> scores;    ///< likewise

  [[nodiscard]] std::size_t nspec() const noexcept { return flux.rows(); }
  [[nodiscard]] std::size_t nwave() const noexcept { return flux.cols(); }
};

}  // namespace fiberloom
