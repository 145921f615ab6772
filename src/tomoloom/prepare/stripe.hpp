// SPDX-License-Identifier: BSD-3-Clause
// Stripes of sinograms, which become rings of slices: what is the same in all projections and not
// smooth along the row belongs to the detector.
#pragma once

#include <cstddef>

#include "tomoloom/foundation.hpp"

namespace tomoloom {

/// Projections of one row: value (angle, x) at data + angle * stride + x.
struct SinogramView {
  float* data = nullptr;
  std::size_t angles = 0, columns = 0, stride = 0;
};

/// TomoPy's remove_stripe_sf: takes away the difference between the mean over angles and its
/// running mean over `size` columns, ends repeated.
void remove_stripe_sf(const SinogramView& sinogram, std::size_t size);

}  // namespace tomoloom
