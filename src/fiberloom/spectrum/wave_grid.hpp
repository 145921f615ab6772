// SPDX-License-Identifier: BSD-3-Clause
// Wavelength grids: made from a range and a step, and how wide their bins are.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace fiberloom {

/// numpy.arange(wmin, wmax + dw/2, dw). Throws kUsage when that is no grid.
[[nodiscard]] std::vector<double> linear_wave_grid(double wmin, double wmax, double dw);

/// The same of equal steps in log10: from wmin on by `step` of log10(Angstrom), the last bin within
/// half a step of wmax. Throws kUsage when that is no grid.
[[nodiscard]] std::vector<double> log10_wave_grid(double wmin, double wmax, double step);

/// The smallest step of a grid, Angstrom; 1 of one bin.
[[nodiscard]] double finest_step(std::span<const double> wave);

/// A grid of equal steps in wavelength or in its log10, as desi_coadd_spectra is asked for one: the
/// first bin at wave_min, the last at wave_max or less than a step before it. What is not said is
/// where the data begin and end.
struct SteppedGrid {
  std::optional<double> lin_step{};              ///< Angstrom
  std::optional<double> log10_step{};            ///< of log10(Angstrom)
  std::optional<double> wave_min{}, wave_max{};  ///< Angstrom

  [[nodiscard]] bool wanted() const noexcept { return lin_step || log10_step; }
};

/// Throws kUsage for what is no grid whatever the data: no step or two, one that is not above 0, an
/// empty range. In the words of the options, --lin-step and so on.
void check_grid(const SteppedGrid& grid);

/// Its bins, of data from `first` to `last` Angstrom. Throws kUsage where they would be fewer than
/// two, more than a million, or all beside the data.
[[nodiscard]] std::vector<double> stepped_wave_grid(const SteppedGrid& grid, double first,
                                                    double last);

/// Width of bin j for flux per Angstrom: numpy.gradient(wave).
[[nodiscard]] std::vector<double> bin_widths(const std::vector<double>& wave);

}  // namespace fiberloom
