// SPDX-License-Identifier: BSD-3-Clause
// Reading FITS files: the HDUs of a file, their pixels and tables. Knows no physics.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/fits/hdu.hpp"
#include "loom/fits/verify.hpp"

namespace loom::fits {

/// Compare CHECKSUM and DATASUM, where an HDU has them, when its data are read?
enum class Verify { kNo, kYes };

/// An open FITS file whose structure has been checked. const use from several threads is safe.
class FitsReader {
 public:
  /// X, or X.gz, or X without .gz. By the threads of `executor`, where there is one, which must
  /// live as long: gzip is unpacked, whole images are read, converted, and their tiles decoded.
  /// Throws kNotFound, kCorrupt.
  [[nodiscard]] static FitsReader open(const std::string& path, Verify verify = Verify::kYes,
                                       Executor* executor = nullptr);
  /// The same from memory (fuzzers, tests); `label` stands for the path in messages.
  [[nodiscard]] static FitsReader from_memory(std::span<const std::uint8_t> bytes,
                                              const std::string& label,
                                              std::size_t max_unpacked = kMaxUnpacked,
                                              Verify verify = Verify::kNo);

  [[nodiscard]] const std::string& path() const noexcept { return source_->label(); }
  [[nodiscard]] const std::vector<Hdu>& hdus() const noexcept { return hdus_; }
  /// The first HDU of this EXTNAME (case ignored), or null.
  [[nodiscard]] const Hdu* find(const std::string& name) const;
  /// The same, or kMissingHdu with the list of what is there.
  [[nodiscard]] const Hdu& require(const std::string& name) const;

  /// All pixels in file order, compressed images unpacked. As float or double: scaled by BSCALE and
  /// BZERO, BLANK as NaN. As uint32_t, of integers alone: the bits of a mask (pixel_convert.hpp).
  /// Precondition: out.size() == hdu.pixels(). Throws kCorrupt, kUnsupported, kWrongShape.
  template <class T>
  void read_pixels(const Hdu& hdu, std::span<T> out) const;

  /// Pixels [first, first + out.size()) of an image that is not compressed, converted likewise. A
  /// part has no checksum of its own: require_sums() compares that of the whole, once.
  template <class T>
  void read_range(const Hdu& hdu, std::size_t first, std::span<T> out) const;

  /// Reads the data unit for its sum alone, where sums are compared at all. Throws kCorrupt.
  void require_sums(const Hdu& hdu) const;

  /// A whole binary table. Throws kWrongShape when the HDU is none, kCorrupt when its columns do
  /// not make up its rows.
  [[nodiscard]] RawTable read_table(const Hdu& hdu) const;

  /// What is wrong with the checksums of an HDU, whether its data were read or not: empty when
  /// nothing is, nullopt where it has none.
  [[nodiscard]] std::optional<std::string> checksum_fault(const Hdu& hdu) const;

  /// An Error that names the file and the HDU.
  [[nodiscard]] Error error(Status status, const Hdu& hdu, const std::string& what) const;
  [[nodiscard]] Error error(Status status, const std::string& what) const;

 private:
  void check_scaling(const Hdu& hdu) const;
  void check_bits(const Hdu& hdu) const;
  FitsReader(std::shared_ptr<const ByteSource> source, Verify verify, Executor* executor);
  template <class T>
  void read_parts(const Hdu& hdu, std::span<T> out, Checksum* sum) const;
  template <class T>
  void read_plain(const Hdu& hdu, std::size_t first, std::span<T> out, Checksum* sum) const;
  [[noreturn]] void damaged(const Hdu& hdu, const std::string& fault) const;
  std::shared_ptr<const ByteSource> source_;
  Verify verify_;
  Executor* executor_;  ///< never null
  std::vector<Hdu> hdus_;
};

extern template void FitsReader::read_range<float>(const Hdu&, std::size_t, std::span<float>) const;
extern template void FitsReader::read_range<double>(const Hdu&, std::size_t,
                                                    std::span<double>) const;
extern template void FitsReader::read_range<std::uint32_t>(const Hdu&, std::size_t,
                                                           std::span<std::uint32_t>) const;
extern template void FitsReader::read_pixels<float>(const Hdu&, std::span<float>) const;
extern template void FitsReader::read_pixels<double>(const Hdu&, std::span<double>) const;
extern template void FitsReader::read_pixels<std::uint32_t>(const Hdu&,
                                                            std::span<std::uint32_t>) const;

}  // namespace loom::fits
