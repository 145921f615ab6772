// SPDX-License-Identifier: BSD-3-Clause
// PSF spots for the oracle: numerical quadrature of the Gauss-Hermite function over pixels, in
// extended precision. Shares no code with psf/ (no erf, no antiderivative, its own series).
#pragma once

#include <cstddef>
#include <vector>

#include "fiberloom/psf/psf_model.hpp"

namespace fiberloom::oracle {

using Real = long double;  ///< 64-bit mantissa on x86-64; 113 bits where long double is binary128

/// A spot over its whole stamp: corner CCD pixel (x0, y0), nx x ny values, x fastest, sum 1.
struct ExtendedSpot {
  int x0 = 0, y0 = 0, nx = 0, ny = 0;
  std::vector<Real> value;
};

/// A Legendre series by Clenshaw's recurrence.
[[nodiscard]] Real legendre_series(const LegendreSeries& series, std::size_t fiber, Real wave_aa);

/// The spot by adaptive Gauss-Legendre quadrature (absolute error below 1e-18 a pixel), clipped at
/// 0 and normalised over the stamp. All zero when sigma is not positive.
[[nodiscard]] ExtendedSpot quadrature_spot(const PsfModel& psf, std::size_t fiber, double wave_aa);

}  // namespace fiberloom::oracle
