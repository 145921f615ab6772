// SPDX-License-Identifier: BSD-3-Clause
// Zingers: single pixels of single projections that were hit by something else.
#pragma once

#include <cstddef>

#include "tomoloom/prepare/stripe.hpp"

namespace tomoloom {

/// TomoPy's remove_outlier along the axis of rows: a value that is at least `dif` above the median
/// of the `size` x `size` values around it (angles x columns, mirrored at the ends with the ends
/// repeated; of an even number the upper of the middle two) becomes that median. Returns how many.
/// O(angles columns size^2).
std::size_t remove_outlier(const SinogramView& sinogram, float dif, std::size_t size);

}  // namespace tomoloom
