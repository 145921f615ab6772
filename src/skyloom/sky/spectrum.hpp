// SPDX-License-Identifier: BSD-3-Clause
// Angular power spectra of maps, by plain sums over rings: for looking at maps, not for cosmology.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "loom/base/executor.hpp"
#include "skyloom/pixels/healpix.hpp"

namespace skyloom {

/// The spectra's end: as far as plain recurrences keep their digits.
inline constexpr std::size_t kMostMultipole = 768;

struct Spectra {
  std::vector<double> tt, ee, bb;  ///< [multipole]; without Q and U the first alone
  double sky_share = 0;            ///< of pixels that have a value
};

/// Of I, or of I, Q, U ([pixel, NESTED], NaN: 0 and not counted), to `most` (kMostMultipole at
/// most): sums of |a_lm|^2 / (2 l + 1), without iterations and pixel window, divided by the share
/// of the sky (pseudo spectra). The mean of I is taken off. O(pixels log(pixels) + rings most^2).
[[nodiscard]] Spectra power_spectra(const Healpix& sky, std::span<const std::vector<double>> stokes,
                                    std::size_t most, Executor& executor);

/// The mean of the pixels that have a value, at a coarser resolution.
[[nodiscard]] std::vector<double> coarser(const Healpix& from, std::span<const double> values,
                                          const Healpix& to);

}  // namespace skyloom
