// SPDX-License-Identifier: BSD-3-Clause
// The nouns of calibration that files keep: what spectra are divided by, and what is taken away
// from them. Knows neither how they are found nor what files hold them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fiberloom/spectrum/table.hpp"
#include "loom/base/array.hpp"

namespace fiberloom {

/// Bits of Spectra::mask (desispec's specmask) that calibration sets.
enum CalibrationMask : std::uint32_t {
  kBadFiberFlat = 1U << 4,
  kBadSky = 1U << 6,
  kNoData = 1U << 8,
  kBadFiber = 1U << 9,
};

/// How much of a lamp's light each fibre passes, against the median fibre.
struct FiberFlat {
  std::vector<double> wave;           ///< [nwave] Angstrom
  loom::Array2D<double> flat;         ///< [nspec][nwave] data / mean; a guess where ivar is 0
  loom::Array2D<double> ivar;         ///< [nspec][nwave]
  loom::Array2D<std::uint32_t> mask;  ///< [nspec][nwave] kBadFiberFlat where ivar is 0
  std::vector<double> mean;           ///< [nwave] the lamp's deconvolved spectrum
  std::optional<Table> fibermap;      ///< of the lamp's exposure
};

/// The sky as each fibre of a flat-fielded frame sees it.
struct SkyModel {
  std::vector<double> wave;           ///< [nwave] Angstrom
  loom::Array2D<double> flux;         ///< [nspec][nwave] blurred by each fibre's own resolution
  loom::Array2D<double> ivar;         ///< [nspec][nwave]; 0 where there is no sky to be had
  loom::Array2D<std::uint32_t> mask;  ///< [nspec][nwave]
  loom::Array2D<double> stat_ivar;    ///< [nspec][nwave] of the fit's noise alone; empty: not kept
  std::vector<double> throughput;     ///< [nspec] factor on the lines of each fibre; empty: 1
  std::vector<std::int64_t> sky_targets;  ///< TARGETID of the fibres that it was made of
};

/// Electrons that a flux of 1 gives in each fibre, of a point source.
struct FluxCalibration {
  std::vector<double> wave;           ///< [nwave] Angstrom
  loom::Array2D<double> calib;        ///< [nspec][nwave] as a flat spectrum shows it behind R
  loom::Array2D<double> ivar;         ///< [nspec][nwave]; 0 where there is none to be had
  loom::Array2D<std::uint32_t> mask;  ///< [nspec][nwave]
  std::vector<double> deconvolved;    ///< [nwave] before R: telluric lines are sharp
  std::vector<double> flat_to_psf;    ///< [nspec] of the calib: a point's light against a lamp's
  std::vector<double>
      psf_to_fiber;  ///< [nspec] flux -> light in a survey's fibre; empty: not known
};

/// Models of stars before any blur; a model need not be there for each node of the grid.
struct StellarGrid {
  std::vector<double> wave;   ///< Angstrom (vacuum), increasing
  loom::Array2D<float> flux;  ///< [nmodel][nwave], any unit
  std::vector<double> teff;   ///< [nmodel] K
  std::vector<double> logg;   ///< [nmodel] of cm/s2
  std::vector<double> metal;  ///< [nmodel] [Fe/H]

  [[nodiscard]] std::size_t nmodel() const noexcept { return flux.rows(); }
};

/// The share of photons that is counted in a photometric band; 0 beyond.
struct Passband {
  std::vector<double> wave;      ///< Angstrom, increasing
  std::vector<double> response;  ///< [wave]
};

}  // namespace fiberloom
