// SPDX-License-Identifier: BSD-3-Clause
// Pictures of one byte a pixel as PNG files in memory.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "loom/base/array.hpp"

namespace fiberloom::report {

struct Rgb {
  std::uint8_t red = 0, green = 0, blue = 0;
};
using Palette = std::array<Rgb, 256>;

/// The last colour of a palette is see-through: pixels that hold nothing.
inline constexpr std::uint8_t kNothing = 255;

/// An indexed PNG, row 0 at the top. Precondition: at least one pixel.
[[nodiscard]] std::vector<std::uint8_t> encode_png(const Array2D<std::uint8_t>& pixels,
                                                   const Palette& palette);

}  // namespace fiberloom::report
