// SPDX-License-Identifier: BSD-3-Clause
// Projections moved along their rows, each row of the detector by its own amount (an axis that is
// not parallel to the columns becomes one that is), or each projection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "loom/base/executor.hpp"
#include "tomoloom/foundation.hpp"

namespace tomoloom {

/// Of every angle, row r moves shift[r] pixels to the right, fractions too, by trigonometric
/// interpolation of the row with a ramp from its last value to its first behind it. `data`:
/// [angle][row][column], rows = shift.size(). A row that moves by 0 stays as it is. O(angles rows
/// columns log columns).
void shift_rows(std::span<float> data, std::size_t columns, std::span<const double> shift,
                Executor& executor);

/// The same with an amount for each projection: [angle][row][column], rows of them.
void shift_projections(std::span<float> data, std::size_t rows, std::size_t columns,
                       std::span<const double> shift, Executor& executor);

/// Memory that each thread takes for it.
[[nodiscard]] std::uint64_t shift_rows_bytes(std::size_t columns);

}  // namespace tomoloom
