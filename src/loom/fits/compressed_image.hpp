// SPDX-License-Identifier: BSD-3-Clause
// Tile-compressed images (FITS standard 4.0, section 10): tiles to pixels.
#pragma once

#include <cstdint>
#include <span>

#include "loom/base/executor.hpp"
#include "loom/files/byte_source.hpp"
#include "loom/fits/hdu.hpp"

namespace loom::fits {

/// All pixels of a compressed image, scaled. RICE_1, GZIP_1, GZIP_2, PLIO_1, NOCOMPRESS are ours;
/// HCOMPRESS_1 goes through cfitsio. Throws kCorrupt, kUnsupported.
/// T is float, double, or uint32_t (bits, of integers alone); out.size() == hdu.pixels(). Tiles are
/// shared out among the threads of `executor`.
template <class T>
void read_compressed(const ByteSource& source, const Hdu& hdu, std::span<T> out,
                     Executor& executor);

extern template void read_compressed<float>(const ByteSource&, const Hdu&, std::span<float>,
                                            Executor&);
extern template void read_compressed<double>(const ByteSource&, const Hdu&, std::span<double>,
                                             Executor&);
extern template void read_compressed<std::uint32_t>(const ByteSource&, const Hdu&,
                                                    std::span<std::uint32_t>, Executor&);

}  // namespace loom::fits
