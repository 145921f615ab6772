// SPDX-License-Identifier: BSD-3-Clause
// Stripes of sinograms, which become rings of slices: what is the same in all projections and not
// smooth along the row belongs to the detector. The methods are TomoPy's by name and parameter.
#pragma once

#include <cstddef>
#include <vector>

#include "tomoloom/foundation.hpp"

namespace tomoloom {

/// Projections of one row: value (angle, x) at data + angle * stride + x.
struct SinogramView {
  float* data = nullptr;
  std::size_t angles = 0, columns = 0, stride = 0;
};

enum class Stripe {
  kNone,
  kSf,             ///< mean over angles less its running mean
  kTi,             ///< Titarenko: smooth the mean by a regularised system
  kFw,             ///< Muench: damp vertical wavelets in Fourier space
  kSorting,        ///< Vo 2018, algorithm 3: partial and full stripes
  kFiltering,      ///< algorithm 2: wide ones
  kFitting,        ///< algorithm 1: those of low frequency
  kInterpolation,  ///< from 4, 5, 6: found and bridged
  kLarge,          ///< algorithm 5
  kDead,           ///< algorithm 6: unresponsive and fluctuating ones, then large ones
  kAll,            ///< dead, large, then sorting
};

/// 0 of a size or a level: what TomoPy takes where none is given.
struct StripeChoice {
  Stripe method = Stripe::kNone;
  std::size_t size = 0;              ///< columns of the running mean or median
  std::size_t large_size = 0;        ///< of the median that finds large and dead stripes in kAll
  double snr = 3;                    ///< large, dead, interpolation, all: greater is less sensitive
  double drop_ratio = 0.1;           ///< of ranks that do not count; large, interpolation
  double sigma = 0;                  ///< of fw (2) and filtering (3), in frequencies; 0: that
  double sigma_x = 5, sigma_y = 20;  ///< of fitting
  std::size_t order = 3;             ///< of fitting's polynomial
  double alpha = 1.5;                ///< of ti
  std::size_t blocks = 0;            ///< of ti, of angles; 0: all together
  std::size_t level = 0;             ///< of fw
};

/// Whether a sinogram is one that stripes are looked for in: of fewer than 4 angles or 8 columns by
/// kSf alone.
[[nodiscard]] bool has_enough(Stripe method, std::size_t angles, std::size_t columns) noexcept;
/// Columns of kSf's running mean.
[[nodiscard]] std::size_t mean_window(const StripeChoice& choice) noexcept;
/// Where the blocks of angles end that kTi takes by themselves.
[[nodiscard]] std::vector<std::size_t> titarenko_ends(std::size_t angles, std::size_t blocks);

/// Removes stripes in place, where there is enough to see them in. O(angles columns size); ti and
/// sf O(angles columns).
void remove_stripe(const SinogramView& sinogram, const StripeChoice& choice);

/// TomoPy's remove_stripe_sf: takes away the difference between the mean over angles and its
/// running mean over `size` columns, ends repeated.
void remove_stripe_sf(const SinogramView& sinogram, std::size_t size);

}  // namespace tomoloom
