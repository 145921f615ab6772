// SPDX-License-Identifier: BSD-3-Clause
// Pixels by pread into place and a byte swap while they are in cache; tables as raw rows.
#include "loom/fits/fits_reader.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <type_traits>

#include "loom/files/byte_order.hpp"
#include "loom/files/huge_pages.hpp"
#include "loom/fits/compressed_image.hpp"
#include "loom/fits/pixel_convert.hpp"

namespace loom::fits {
namespace {

/// Pixels handled at once: raw and converted stay in the second-level cache.
constexpr std::size_t kReadAtOnce = 32768;

/// The type in the file is the type in memory.
template <class T>
void read_same(const ByteSource& source, std::uint64_t offset, std::span<T> out, Checksum* sum) {
  while (!out.empty()) {
    const auto part = out.first(std::min(out.size(), kReadAtOnce));
    auto* bytes = reinterpret_cast<std::uint8_t*>(part.data());
    source.read(offset, {bytes, part.size_bytes()});
    if (sum != nullptr) sum->add({bytes, part.size_bytes()});
    from_big_endian<T>(bytes, part.data(), part.size());
    offset += part.size_bytes();
    out = out.subspan(part.size());
  }
}

template <class File, class T>
void read_as(const ByteSource& source, const Hdu& hdu, std::uint64_t first, std::span<T> out,
             Checksum* sum) {
  PixelScale scale{hdu.bscale, hdu.bzero, {}};
  if constexpr (std::is_integral_v<File>) scale.blank = hdu.blank;
  std::uint64_t offset = hdu.data_offset + first * sizeof(File);
  if constexpr (std::is_floating_point_v<T> && std::is_same_v<File, T>) {
    if (scale.trivial()) return read_same<T>(source, offset, out, sum);
  }
  Buffer<File> chunk(std::min(out.size(), kReadAtOnce));
  while (!out.empty()) {
    const std::size_t n = std::min(out.size(), kReadAtOnce);
    auto* bytes = reinterpret_cast<std::uint8_t*>(chunk.data());
    source.read(offset, {bytes, n * sizeof(File)});
    if (sum != nullptr) sum->add({bytes, n * sizeof(File)});
    from_big_endian<File>(bytes, chunk.data(), n);
    convert_pixels<T>(chunk.data(), out.data(), n, scale);
    offset += n * sizeof(File);
    out = out.subspan(n);
  }
}

std::vector<std::uint8_t> read_bytes(const ByteSource& source, std::uint64_t offset,
                                     std::uint64_t n) {
  std::vector<std::uint8_t> out(static_cast<std::size_t>(n));
  source.read(offset, out);
  return out;
}

}  // namespace

FitsReader::FitsReader(std::shared_ptr<const ByteSource> source, Verify verify, Executor* executor)
    : source_(std::move(source)),
      verify_(verify),
      executor_(executor != nullptr ? executor : &serial_executor()),
      hdus_(scan_hdus(*source_)) {}

FitsReader FitsReader::open(const std::string& path, Verify verify, Executor* executor) {
  return {ByteSource::open(resolve_path(path), executor), verify, executor};
}

FitsReader FitsReader::from_memory(std::span<const std::uint8_t> bytes, const std::string& label,
                                   std::size_t max_unpacked, Verify verify) {
  return {ByteSource::from_memory(bytes, label, max_unpacked), verify, nullptr};
}

const Hdu* FitsReader::find(const std::string& name) const {
  const std::string wanted = normal_name(name);
  const auto it =
      std::find_if(hdus_.begin(), hdus_.end(), [&](const Hdu& hdu) { return hdu.name == wanted; });
  return it == hdus_.end() ? nullptr : &*it;
}

const Hdu& FitsReader::require(const std::string& name) const {
  if (const Hdu* hdu = find(name)) return *hdu;
  std::string have;
  for (const Hdu& hdu : hdus_) {
    have += (have.empty() ? "" : ", ") + (hdu.name.empty() ? std::string("(no name)") : hdu.name);
  }
  throw error(Status::kMissingHdu, "no HDU " + name + "; the file has " + have);
}

template <class T>
void FitsReader::read_pixels(const Hdu& hdu, std::span<T> out) const {
  if (out.size() != hdu.pixels()) throw error(Status::kInternal, hdu, "wrong buffer size");
  advise_huge_pages(out.data(), out.size_bytes());
  if (hdu.kind != HduKind::kCompressedImage && hdu.kind != HduKind::kImage) {
    throw error(Status::kWrongShape, hdu, "is no image");
  }
  check_scaling(hdu);
  if constexpr (std::is_integral_v<T>) check_bits(hdu);
  if (hdu.kind == HduKind::kCompressedImage) {
    require_sums(hdu);
    return read_compressed<T>(*source_, hdu, out, *executor_);
  }
  if (verify_ == Verify::kNo || !has_checksums(hdu)) return read_parts(hdu, out, nullptr);
  Checksum sum;
  read_parts(hdu, out, &sum);
  // Whole words were summed with the pixels; what is left of a word, and the padding:
  const std::uint64_t bytes = out.size() * static_cast<std::uint64_t>(std::abs(hdu.bitpix) / 8);
  add_bytes(sum, *source_, hdu.data_offset + bytes / 4 * 4, hdu.end());
  const std::string fault = fits::checksum_fault(hdu, sum.value());
  if (!fault.empty()) damaged(hdu, fault);
}

/// A whole plain image.
template <class T>
void FitsReader::read_parts(const Hdu& hdu, std::span<T> out, Checksum* sum) const {
  std::mutex one;
  run_in_parts(*executor_, out.size(), kReadAtOnce, [&](std::size_t first, std::size_t n) {
    Checksum part;
    read_plain(hdu, first, out.subspan(first, n), sum != nullptr ? &part : nullptr);
    const std::lock_guard lock(one);
    if (sum != nullptr) sum->add(part.value());
  });
}

template <class T>
void FitsReader::read_range(const Hdu& hdu, std::size_t first, std::span<T> out) const {
  if (first > hdu.pixels() || out.size() > hdu.pixels() - first) {
    throw error(Status::kInternal, hdu, "a range beyond its pixels");
  }
  if (hdu.kind != HduKind::kImage) {
    throw error(Status::kWrongShape, hdu, "is no plain image");
  }
  check_scaling(hdu);
  if constexpr (std::is_integral_v<T>) check_bits(hdu);
  read_plain(hdu, first, out, nullptr);
}

template <class T>
void FitsReader::read_plain(const Hdu& hdu, std::size_t first, std::span<T> out,
                            Checksum* sum) const {
  switch (hdu.bitpix) {
    case 8:
      return read_as<std::uint8_t>(*source_, hdu, first, out, sum);
    case 16:
      return read_as<std::int16_t>(*source_, hdu, first, out, sum);
    case 32:
      return read_as<std::int32_t>(*source_, hdu, first, out, sum);
    case 64:
      return read_as<std::int64_t>(*source_, hdu, first, out, sum);
    default:
      break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (hdu.bitpix == -32) return read_as<float>(*source_, hdu, first, out, sum);
    return read_as<double>(*source_, hdu, first, out, sum);
  }
}

std::optional<std::string> FitsReader::checksum_fault(const Hdu& hdu) const {
  if (!has_checksums(hdu)) return std::nullopt;
  return fits::checksum_fault(hdu, *source_);
}

void FitsReader::require_sums(const Hdu& hdu) const {
  if (verify_ == Verify::kNo) return;
  if (const auto fault = checksum_fault(hdu); fault && !fault->empty()) damaged(hdu, *fault);
}

void FitsReader::damaged(const Hdu& hdu, const std::string& fault) const {
  throw error(Status::kCorrupt, hdu,
              fault + ": damaged, or changed without new sums (--no-verify reads it all the same)");
}

void FitsReader::check_scaling(const Hdu& hdu) const {
  const auto fail = [&](const char* key, const char* expected) {
    throw error(
        Status::kCorrupt, hdu,
        std::string(key) + " is '" + hdu.header.text(key).value_or("") + "', expected " + expected);
  };
  if (!std::isfinite(hdu.bscale) || hdu.bscale == 0) fail("BSCALE", "a number other than 0");
  if (!std::isfinite(hdu.bzero)) fail("BZERO", "a number");
  if (hdu.bitpix > 0 && hdu.header.has("BLANK") && !hdu.blank) fail("BLANK", "an integer");
}

void FitsReader::check_bits(const Hdu& hdu) const {
  if (hdu.bitpix < 0) {
    throw error(Status::kWrongShape, hdu,
                "BITPIX is " + std::to_string(hdu.bitpix) + ", expected integers");
  }
  if (PixelScale{hdu.bscale, hdu.bzero, {}}.whole()) return;
  throw error(Status::kUnsupported, hdu,
              "BSCALE " + hdu.header.text("BSCALE").value_or("1") + " and BZERO " +
                  hdu.header.text("BZERO").value_or("0") +
                  " make no integers, and a mask needs them");
}

template void FitsReader::read_range<float>(const Hdu&, std::size_t, std::span<float>) const;
template void FitsReader::read_range<double>(const Hdu&, std::size_t, std::span<double>) const;
template void FitsReader::read_range<std::uint32_t>(const Hdu&, std::size_t,
                                                    std::span<std::uint32_t>) const;
template void FitsReader::read_pixels<float>(const Hdu&, std::span<float>) const;
template void FitsReader::read_pixels<double>(const Hdu&, std::span<double>) const;
template void FitsReader::read_pixels<std::uint32_t>(const Hdu&, std::span<std::uint32_t>) const;

RawTable FitsReader::read_table(const Hdu& hdu) const {
  if (hdu.kind != HduKind::kTable) throw error(Status::kWrongShape, hdu, "is no binary table");
  if (hdu.header.logical("ZTABLE").value_or(false)) {
    throw error(Status::kUnsupported, hdu,
                "is a compressed table (ZTABLE), which is not supported");
  }
  RawTable out;
  out.header = hdu.user_header();
  for (const std::string& card : hdu.header.cards) {
    if (is_column_keyword(card_keyword(card))) out.column_cards.push_back(card);
  }
  out.rows = hdu.rows;
  out.row_bytes = hdu.row_bytes;
  std::size_t described = 0;
  const auto columns = table_columns(out);
  for (const auto& column : columns) {
    described += column.bytes;
    if (column.fault.empty()) continue;
    throw error(Status::kCorrupt, hdu, "column " + column.name + ": " + column.fault);
  }
  const auto fields = hdu.header.integer("TFIELDS").value_or(-1);
  if (described != out.row_bytes || fields != static_cast<std::int64_t>(columns.size())) {
    throw error(Status::kCorrupt, hdu,
                "TFIELDS and TFORMn describe " + std::to_string(fields) + " columns and " +
                    std::to_string(described) + " bytes a row, found " +
                    std::to_string(columns.size()) + " and NAXIS1 " +
                    std::to_string(out.row_bytes));
  }
  require_sums(hdu);
  out.data = read_bytes(*source_, hdu.data_offset, std::uint64_t{out.rows} * out.row_bytes);
  out.heap =
      read_bytes(*source_, hdu.data_offset + hdu.heap_offset, hdu.data_bytes - hdu.heap_offset);
  return out;
}

Error FitsReader::error(Status status, const Hdu& hdu, const std::string& what) const {
  return error(status, hdu.label() + ": " + what);
}

Error FitsReader::error(Status status, const std::string& what) const {
  return {status, path() + ": " + what};
}

}  // namespace loom::fits
