// SPDX-License-Identifier: BSD-3-Clause
// Codecs of tile-compressed images on one tile (FITS standard 4.0, section 10.4): RICE_1 both ways,
// PLIO_1 to pixels. Written from the standard; bounds are checked on every read, so that hostile
// bytes give `false` and nothing worse.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace loom::fits {

/// Fills `out`. byte_pix is 1, 2 or 4; block is the number of pixels that share a split position.
/// false when the stream ends early.
[[nodiscard]] bool rice_decode(std::span<const std::uint8_t> in, int byte_pix, std::size_t block,
                               std::span<std::int32_t> out) noexcept;

/// The stream that rice_decode reads back. Pixels must fit byte_pix bytes.
[[nodiscard]] std::vector<std::uint8_t> rice_encode(std::span<const std::int32_t> in, int byte_pix,
                                                    std::size_t block);

/// IRAF line list; false when it is malformed.
[[nodiscard]] bool plio_decode(std::span<const std::uint8_t> in,
                               std::span<std::int32_t> out) noexcept;

}  // namespace loom::fits
