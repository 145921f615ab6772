// SPDX-License-Identifier: BSD-3-Clause
// Rings of slices, after reconstruction: what differs from its surroundings along the radius and
// does not change along the circle.
#pragma once

#include <cstddef>
#include <span>

#include "tomoloom/foundation.hpp"

namespace tomoloom {

struct RingChoice {
  std::size_t width = 0;  ///< pixels of the widest ring that goes; 0: all stay
  double threshold = 0;   ///< a difference beyond it is the body's and stays; 0: none is
  double arc_deg = 30;    ///< what is shorter than about twice this along the circle stays
};

/// Removes rings around (row, column) = (middle, middle) in place; slices are n x n. In polar
/// coordinates (Sijbers & Postnov 2004): the difference to a running median of 2 width + 1 points
/// along the radius, averaged along the circle over arc_deg to either side, is what a ring is.
/// Beyond the circle of radius n/2 nothing changes. O(n^2 width).
void remove_rings(std::span<float> slice, std::size_t n, double middle_row, double middle_column,
                  const RingChoice& choice);

/// Memory that a call takes.
[[nodiscard]] std::size_t remove_rings_bytes(std::size_t n, const RingChoice& choice) noexcept;

}  // namespace tomoloom
