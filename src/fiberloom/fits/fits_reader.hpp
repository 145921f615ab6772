// SPDX-License-Identifier: BSD-3-Clause
// Reading FITS files: the HDUs of a file, their pixels and tables. Knows no physics.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fiberloom/base/error.hpp"
#include "fiberloom/fits/hdu.hpp"

namespace fiberloom::fits {

/// An open FITS file whose structure has been checked. const use from several threads is safe.
class FitsReader {
 public:
  /// X, or X.gz, or X without .gz. Throws kNotFound, kCorrupt.
  [[nodiscard]] static FitsReader open(const std::string& path);
  /// The same from memory (fuzzers, tests); `label` stands for the path in messages.
  [[nodiscard]] static FitsReader from_memory(std::span<const std::uint8_t> bytes,
                                              const std::string& label,
                                              std::size_t max_unpacked = kMaxUnpacked);

  [[nodiscard]] const std::string& path() const noexcept { return source_->label(); }
  [[nodiscard]] const std::vector<Hdu>& hdus() const noexcept { return hdus_; }
  /// The first HDU of this EXTNAME (case ignored), or null.
  [[nodiscard]] const Hdu* find(const std::string& name) const;
  /// The same, or kMissingHdu with the list of what is there.
  [[nodiscard]] const Hdu& require(const std::string& name) const;

  /// All pixels in file order, scaled by BSCALE and BZERO, BLANK as NaN (0 for integers);
  /// compressed images are unpacked. T is float, double, int32_t or uint32_t; integers are cut to
  /// the range of T. Precondition: out.size() == hdu.pixels(). Throws kCorrupt, kUnsupported.
  template <class T>
  void read_pixels(const Hdu& hdu, std::span<T> out) const;

  /// A whole binary table. Throws kWrongShape when the HDU is none, kCorrupt when its columns do
  /// not make up its rows.
  [[nodiscard]] RawTable read_table(const Hdu& hdu) const;

  /// An Error that names the file and the HDU.
  [[nodiscard]] Error error(Status status, const Hdu& hdu, const std::string& what) const;
  [[nodiscard]] Error error(Status status, const std::string& what) const;

 private:
  explicit FitsReader(std::shared_ptr<const ByteSource> source);
  std::shared_ptr<const ByteSource> source_;
  std::vector<Hdu> hdus_;
};

extern template void FitsReader::read_pixels<float>(const Hdu&, std::span<float>) const;
extern template void FitsReader::read_pixels<double>(const Hdu&, std::span<double>) const;
extern template void FitsReader::read_pixels<std::int32_t>(const Hdu&,
                                                           std::span<std::int32_t>) const;
extern template void FitsReader::read_pixels<std::uint32_t>(const Hdu&,
                                                            std::span<std::uint32_t>) const;

}  // namespace fiberloom::fits
