// SPDX-License-Identifier: BSD-3-Clause
// Writing FITS files, byte for byte reproducible: no dates, checksums with fixed comments, and our
// own big-endian conversion with the data sum taken while the bytes are in cache.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "loom/files/byte_sink.hpp"
#include "loom/fits/raw_table.hpp"

namespace loom::fits {

/// Type of the pixels in the file. kUInt32 is BITPIX 32 with BZERO 2147483648.
enum class PixelType { kInt16, kInt32, kUInt32, kFloat32, kFloat64 };

/// Appends HDUs to a sink. The first image becomes the primary HDU; a table first gets an empty
/// one.
class FitsWriter {
 public:
  explicit FitsWriter(ByteSink& sink) : sink_(sink) {}

  /// `axes` in FITS order (NAXIS1 first). Structural cards in `header` are left out.
  void image(const std::string& extname, std::span<const float> pixels,
             const std::vector<std::size_t>& axes, PixelType type, const HeaderCards& header = {});
  void image(const std::string& extname, std::span<const double> pixels,
             const std::vector<std::size_t>& axes, PixelType type, const HeaderCards& header = {});
  void image(const std::string& extname, std::span<const std::uint32_t> pixels,
             const std::vector<std::size_t>& axes, PixelType type, const HeaderCards& header = {});

  /// A two-dimensional integer image, Rice-compressed row by row: 16 bits where all values fit
  /// (below 32768), else 32 bits (below 2^31; kInternal beyond).
  void compressed_mask(const std::string& extname, std::span<const std::uint32_t> pixels,
                       std::size_t nx, std::size_t ny, const HeaderCards& header = {});

  void table(const std::string& extname, const RawTable& table);

  /// Puts `n` elements from `first` on, big-endian, at `out`.
  using Fill = std::function<void(std::size_t first, std::size_t n, std::uint8_t* out)>;
  /// The same where nobody holds all rows: `layout` has no data, `fill` is asked for rows in order.
  void table(const std::string& extname, const RawTable& layout, const Fill& fill);

  /// A primary HDU of cards alone. Throws kInternal where it is not the first.
  void primary(const HeaderCards& header);

 private:
  template <class T>
  void typed_image(const std::string& extname, std::span<const T> pixels,
                   const std::vector<std::size_t>& axes, PixelType type, const HeaderCards& header);
  void empty_primary();
  /// Header, `elements` x `width` bytes from `fill`, padding, checksums.
  void hdu(const std::vector<std::string>& cards, std::size_t elements, std::size_t width,
           const Fill& fill);

  ByteSink& sink_;
};

/// Runs `build` on a writer and puts the result at `path`: atomically, gzipped when the name ends
/// in .gz; with `together` its name waits for the others there. Throws kOutputExists, kUnwritable,
/// kDiskFull, and what `build` throws.
void write_fits(const std::string& path, Overwrite overwrite,
                const std::function<void(FitsWriter&)>& build, int gzip_level = 0,
                FilesTogether* together = nullptr);

}  // namespace loom::fits
