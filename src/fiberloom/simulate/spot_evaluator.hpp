// SPDX-License-Identifier: BSD-3-Clause
// PSF spots by the thousand: the definition of spot_reference(), separable and without allocation.
// Must not know what is done with the spots.
#pragma once

#include <vector>

#include "fiberloom/psf/psf_model.hpp"

namespace fiberloom {

/// Evaluates spots of one PSF; equal to spot_reference() to rounding (the test holds it to 1e-14).
/// A PSF with tails goes to spot_reference(). One evaluator a thread; the PSF must outlive it.
class SpotEvaluator {
 public:
  explicit SpotEvaluator(const PsfModel& psf);
  /// The spot of a fibre at a wavelength; valid until the next call. About 2 us.
  [[nodiscard]] const Spot& operator()(std::size_t fiber, double wave_aa);

 private:
  void pixel_integrals(double center, double sigma, int first, int n, int degree,
                       std::vector<double>& out) const;
  void coefficients(std::size_t fiber, double wave_aa);

  const PsfModel& psf_;
  bool common_domain_;  ///< all Gauss-Hermite series share one domain and length
  Spot spot_;
  std::vector<double> px_, py_, gh_, row_;  ///< px_ [i][nx], py_ [j][ny], gh_ [j][i]
};

}  // namespace fiberloom
