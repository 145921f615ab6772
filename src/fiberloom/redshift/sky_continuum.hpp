// SPDX-License-Identifier: BSD-3-Clause
// What sky subtraction left of the sky's continuum: smooth light of one camera, too much or too
// little, that no weights of single pixels know of. The likelihood gives each target an amplitude a
// camera, the same in all pixels, with a Gaussian prior around 0, and integrates it out:
//   C = W^-1 + sigma^2 1 1^T,   C^-1 = W - beta W 1 1^T W,   beta = 1 / (1 / sigma^2 + sum w)
// so that with u = B^T W 1 of each camera M becomes M - beta u u^T, y becomes y - beta (sum w f) u,
// and f^T W f loses beta (sum w f)^2.
#pragma once

#include <span>
#include <vector>

#include "fiberloom/redshift/target.hpp"

namespace fiberloom::redshift {

/// How far the continuum of a camera is off, rms, in units of the flux; 0: it is not.
struct SkyWidth {
  std::vector<double> wave;  ///< the camera
  double sigma = 0;
};

/// Fewer fibres on the sky cannot tell it.
inline constexpr std::size_t kLeastSkyFibres = 8;

/// What targets that are nothing but sky say of it.
class SkyMeans {
 public:
  /// Takes the mean flux of each target on each grid.
  void add(const TargetSet& skies);
  /// What the means of a camera scatter by more than their noise, by medians, since some fibres may
  /// not be empty. 0 where there are too few of them.
  [[nodiscard]] std::vector<SkyWidth> widths() const;

 private:
  struct Mean {
    double flux = 0, variance = 0;  ///< and its variance by noise alone
  };
  struct Camera {
    std::vector<double> wave;
    std::vector<Mean> means;
  };
  [[nodiscard]] static double excess_variance(const std::vector<Mean>& means);
  std::vector<Camera> cameras_;
};

/// Gives all targets of a set their amplitudes; grids without a width have none. Templates have to
/// reach over all pixels of the set (no Coverage::kPartial).
void add_sky_continuum(TargetSet& set, std::span<const SkyWidth> widths);

}  // namespace fiberloom::redshift
