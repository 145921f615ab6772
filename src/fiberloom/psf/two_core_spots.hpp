// SPDX-License-Identifier: BSD-3-Clause
// GAUSS-HERMITE2: two Gauss-Hermite cores, the first cut at some sigma, and tails
// (docs/fiberloom/formats.md). The values are specter's to rounding.
#pragma once

#include <memory>
#include <vector>

#include "fiberloom/psf/psf_model.hpp"

namespace fiberloom {

struct HermiteCore {
  int degree_x = 0, degree_y = 0;
  LegendreSeries sigma_x, sigma_y;
  std::vector<LegendreSeries> coef;  ///< GH-i-j at [j * (degree_x + 1) + i]
};

/// The widths of the first core are sigma_x and sigma_y of the PsfModel, where a fibre has spots.
struct TwoCores {
  int hsize_x = 8, hsize_y = 5;  ///< the stamp is 2 hsize_x x 2 hsize_y pixels
  HermiteCore first, second;
  LegendreSeries cut_sigma;  ///< GHNSIG: the first core is 0 from so many of its sigma on
  PsfTails tails;
};

[[nodiscard]] std::shared_ptr<const SpotShape> make_two_cores(const TwoCores& cores);

/// The highest degree of a core.
inline constexpr int kMaxCoreDegree = 20;

}  // namespace fiberloom
