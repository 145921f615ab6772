// SPDX-License-Identifier: BSD-3-Clause
// Spectra as they come in (views) and as they are fitted (blocks of good pixels on shared
// wavelength grids). Knows no files and no templates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "loom/base/array.hpp"

namespace fiberloom::redshift {

/// Numbers of somebody else, float or double.
class Reals {
 public:
  Reals() = default;
  Reals(std::span<const float> values) : floats_(values.data()), size_(values.size()) {}
  Reals(std::span<const double> values) : doubles_(values.data()), size_(values.size()) {}
  [[nodiscard]] double operator[](std::size_t i) const noexcept {
    return floats_ != nullptr ? static_cast<double>(floats_[i]) : doubles_[i];
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

 private:
  const float* floats_ = nullptr;
  const double* doubles_ = nullptr;
  std::size_t size_ = 0;
};

/// One exposure of one camera of one target, nwave pixels.
struct CameraView {
  std::span<const double> wave;  ///< Angstrom, increasing, two or more
  Reals flux, ivar;
  std::span<const std::uint32_t> mask;  ///< not zero: the pixel is bad; empty: none is
  /// [ndiag][nwave] as DESI stores it, ndiag odd: resolution[k][j] stands in column j and row
  /// j - ndiag / 2 + k of R. Empty (ndiag 0): the spectrum is not blurred.
  Reals resolution;
  std::size_t ndiag = 0;
};

/// All spectra of one target; cameras may be missing, exposures repeat a camera.
struct TargetView {
  std::int64_t id = 0;
  std::vector<CameraView> spectra;
};

/// A wavelength grid that blocks share.
struct WaveGrid {
  std::vector<double> wave;
  std::vector<double> edges;  ///< nwave + 1: midpoints, the outer ones as far out as the next in
  std::vector<double> log_edges;  ///< log10 of them
};

/// Pixels in a block are padded to a multiple of this; padding has weight 0.
inline constexpr std::size_t kTile = 8;

/// Where a template reaches over a part of the pixels it is fitted to whole tiles of so many.
inline constexpr std::size_t kReachTile = 64;

/// One spectrum ready to be fitted. Row i of R: rows[i][m] stands in column i - ndiag / 2 + m.
struct Block {
  std::size_t grid = 0, pixels = 0, ndiag = 1;
  Buffer<double> weight, flux;  ///< [padded]; flux is 0 where weight is 0
  Buffer<double> rows;          ///< [padded][ndiag]
  /// Sums over the pixels before i of what chi2 of a smooth spectrum lacks to chi2 of none, [pixels
  /// + 1] (smooth_reference.hpp); empty: templates have to reach over all pixels.
  std::vector<double> smooth_gain{};
  Buffer<double> pull{};  ///< R^T W 1, [padded]: where the set has sky_terms
  [[nodiscard]] std::size_t padded() const noexcept { return weight.size(); }
};

/// The sky's continuum on a grid: what it takes of M and y (sky_continuum.hpp).
struct SkyTerm {
  double beta = 0, weighted_flux = 0;
};

struct PreparedTarget {
  std::int64_t id = 0;
  std::vector<Block> blocks;
  double weight_flux2 = 0;     ///< sum of w f^2: chi2 of no model at all
  long good_pixels = 0;        ///< NPIXELS
  long absurd_pixels = 0;      ///< dropped: PrepareOptions::most_ivar_ratio, _snr, _row_sum
  std::vector<SkyTerm> sky{};  ///< of each grid where the set has sky_terms
  double sky_gain = 0;         ///< by how much less weight_flux2 is with them
};

/// Targets that are fitted together, and the grids that their blocks name.
struct TargetSet {
  std::vector<WaveGrid> grids;
  std::vector<PreparedTarget> targets;
  /// Amplitudes of the sky's continuum that each target has: one a grid, or none.
  std::size_t sky_terms = 0;
  /// Half of the widest resolution: pixels beyond a grid's ends that kernels read.
  [[nodiscard]] std::size_t halo() const noexcept;
  /// The first and the last bin edge of all grids.
  [[nodiscard]] double lowest_edge() const noexcept;
  [[nodiscard]] double highest_edge() const noexcept;
};

[[nodiscard]] std::vector<double> bin_edges(std::span<const double> wave);
/// A grid with its edges.
[[nodiscard]] WaveGrid wave_grid(std::span<const double> wave);

}  // namespace fiberloom::redshift
