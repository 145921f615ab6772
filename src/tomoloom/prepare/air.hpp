// SPDX-License-Identifier: BSD-3-Clause
// Transmissions whose beam grows or falls while the scan runs: the air beside the body tells by how
// much.
#pragma once

#include <cstddef>
#include <span>

#include "tomoloom/foundation.hpp"

namespace tomoloom {

/// Divides each row of a projection [row][column] by the straight line between the means of `air`
/// pixels at either end; a mean that is not above 0 counts as 1.
void balance_air(std::span<float> projection, std::size_t columns, std::size_t air);

}  // namespace tomoloom
