// SPDX-License-Identifier: BSD-3-Clause
// What no projection saw at all angles is not shown.
#pragma once

#include <cstddef>
#include <span>

#include "tomoloom/foundation.hpp"

namespace tomoloom {

/// Sets every pixel of a slice [n][n] to `value` whose middle is farther than `ratio` n / 2 from
/// the middle of the slice.
void mask_circle(std::span<float> slice, std::size_t n, double ratio, float value = 0);

}  // namespace tomoloom
