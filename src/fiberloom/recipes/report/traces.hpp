// SPDX-License-Identifier: BSD-3-Clause
// Where the fibres of a frame lie on the CCD, and how well the two-dimensional fit holds along
// them.
#pragma once

#include <cstddef>
#include <vector>

#include "fiberloom/formats/formats.hpp"
#include "fiberloom/psf/psf_model.hpp"

namespace fiberloom::report {

/// Pixel coordinates of each fibre at some wavelengths, evenly spaced over the frame.
struct Traces {
  std::vector<double> wave;  ///< Angstrom
  Array2D<float> x, y;       ///< [nspec][wave.size()]
};

/// Fibre `first` of the PSF belongs to row 0. Precondition: first + nspec fibres are in the PSF.
[[nodiscard]] Traces sample_traces(const PsfModel& psf, std::size_t first, std::size_t nspec,
                                   double wave_low, double wave_high, std::size_t samples);

/// (image - model) summed over the pixels of a bin, kReach columns to either side of the trace and
/// the rows that the bin spans, / the standard deviation of that sum. NaN where no pixel was used.
/// [nspec][nwave]
[[nodiscard]] Array2D<float> residual_along_traces(
    const PsfModel& psf, std::size_t first, std::size_t nspec, const std::vector<double>& wave,
    const Array2D<float>& residual, const Array2D<float>& model, const Array2D<float>& ivar);

/// Pixels in which the light of a bin falls, in effect (1 / sum of squares over a Gaussian across
/// the trace, times the rows of a bin), for the middle fibre and wavelength.
[[nodiscard]] double effective_pixels(const PsfModel& psf, std::size_t first, std::size_t nspec,
                                      const std::vector<double>& wave);

}  // namespace fiberloom::report
