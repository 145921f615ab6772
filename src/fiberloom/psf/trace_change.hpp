// SPDX-License-Identifier: BSD-3-Clause
// A PSF whose traces and widths have moved a little since it was made: the change is a polynomial
// over the CCD, and the changed PSF is one like any other. Knows no pixels and no files.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "fiberloom/psf/psf_model.hpp"

namespace fiberloom {

/// What of a spot may have changed, pixels.
enum class TraceParameter { kX, kY, kSigmaX, kSigmaY };
inline constexpr std::size_t kTraceParameters = 4;
inline constexpr std::array<const char*, kTraceParameters> kTraceParameterNames{"x", "y", "sigma_x",
                                                                                "sigma_y"};

/// The series of a PSF that holds it.
[[nodiscard]] LegendreSeries& series_of(PsfModel& psf, TraceParameter parameter) noexcept;

/// The part of a CCD on which a change is a polynomial: u is -1 and 1 at the first and last fibre's
/// column (at the middle wavelength), v at the first and last wavelength.
struct TraceDomain {
  double x_first = 0, x_last = 1;              ///< pixels
  double wave_first_aa = 0, wave_last_aa = 1;  ///< Angstrom
};

/// Place of a fibre of the unchanged PSF: fibres beyond the domain change as its outermost do.
[[nodiscard]] double fiber_place(const TraceDomain& domain, const PsfModel& psf, std::size_t fiber);
[[nodiscard]] double wave_place(const TraceDomain& domain, double wave_aa) noexcept;

/// Terms P_i(u) P_k(v) with i + k <= degree, in the order of i, then k.
struct TraceTerm {
  int i = 0, k = 0;
};
[[nodiscard]] std::vector<TraceTerm> trace_terms(int degree);
/// Their values.
[[nodiscard]] std::vector<double> trace_term_values(int degree, double u, double v);

struct TraceChange {
  TraceDomain domain;
  int degree = 0;
  /// [parameter][term], pixels; no terms: unchanged
  std::array<std::vector<double>, kTraceParameters> coef;
};

/// The PSF with the change added to its series, exactly: they get more coefficients where the
/// degree asks for them. Fibres whose traces are not finite stay as they are. Throws kUnsupported
/// where widths change of a PSF whose spots are not made of them.
[[nodiscard]] PsfModel changed_psf(const PsfModel& psf, const TraceChange& change);

}  // namespace fiberloom
