// SPDX-License-Identifier: BSD-3-Clause
// Standard stars as the fit of a flux calibration wants them: on a grid with a margin. Internal to
// calibrate/.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fiberloom/calibrate/flux_calibration.hpp"
#include "fiberloom/spectrum/banded.hpp"

namespace fiberloom::calibrate {

/// Bins that stand at each end of the grid once more, as copies of the last: light from there
/// reaches the first bins.
inline constexpr std::size_t kMargin = 3;

/// i on the frame's grid of n bins of bin j of the padded one.
[[nodiscard]] std::size_t unpadded(std::size_t j, std::size_t n) noexcept;
[[nodiscard]] std::vector<double> padded_wave(const std::vector<double>& wave);
/// R of one spectrum on the padded grid.
void pad_resolution(Banded<const float> r, Banded<float> to);

/// All on the padded grid; ivar: as given, and less what has been rejected.
struct PaddedStar {
  std::size_t row = 0;
  Array2D<float> resolution;
  std::vector<double> flux, given, ivar;
  std::vector<double> model, seen;  ///< before R and behind it
};
/// `wave`: padded. flat_to_psf 0: the star has no weight.
[[nodiscard]] PaddedStar padded_star(const Spectra& spectra, const StarModel& from,
                                     const std::vector<double>& model_wave,
                                     const std::vector<double>& wave, double flat_to_psf);

/// Of all pixels that count. Throws kNumerical where none does.
[[nodiscard]] double median_snr(std::span<const PaddedStar> stars);

/// The average calibration of the options on `wave` times the median of data / expected where it is
/// above half its own median; 0 beyond its wavelengths.
[[nodiscard]] std::vector<double> scaled_to_stars(const FluxOptions& options,
                                                  const std::vector<double>& wave,
                                                  std::span<const PaddedStar> stars);

/// Straight lines across Ca H and K, Na D: gas between us and the stars, no loss of the
/// instrument's.
void bridge_interstellar(std::span<const double> wave, std::span<double> values);

}  // namespace fiberloom::calibrate
