// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <cstring>

#include "loom/base/error.hpp"
#include "loom/files/byte_order.hpp"
#include "loom/tiff/tiff.hpp"
#include "loom/tiff/tiff_codec.hpp"

namespace loom::tiff {
namespace {

template <std::size_t N>
void swap_each(std::span<std::uint8_t> bytes) {
  for (std::size_t i = 0; i + N <= bytes.size(); i += N) {
    std::reverse(bytes.data() + i, bytes.data() + i + N);
  }
}

void to_this_order(std::span<std::uint8_t> bytes, std::size_t size) {
  if (size == 2) swap_each<2>(bytes);
  if (size == 4) swap_each<4>(bytes);
  if (size == 8) swap_each<8>(bytes);
}

template <class From, class To>
void convert(std::span<const std::uint8_t> bytes, std::span<To> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    From value;
    std::memcpy(&value, bytes.data() + i * sizeof(From), sizeof(From));
    out[i] = static_cast<To>(value);
  }
}

void convert_all(Number number, std::span<const std::uint8_t> bytes, std::span<float> out) {
  switch (number) {
    case Number::kUint8:
      return convert<std::uint8_t>(bytes, out);
    case Number::kInt8:
      return convert<std::int8_t>(bytes, out);
    case Number::kUint16:
      return convert<std::uint16_t>(bytes, out);
    case Number::kInt16:
      return convert<std::int16_t>(bytes, out);
    case Number::kUint32:
      return convert<std::uint32_t>(bytes, out);
    case Number::kInt32:
      return convert<std::int32_t>(bytes, out);
    case Number::kFloat32:
      return convert<float>(bytes, out);
    case Number::kFloat64:
      return convert<double>(bytes, out);
  }
}
void convert_all(Number number, std::span<const std::uint8_t> bytes, std::span<std::uint16_t> out) {
  if (number == Number::kUint8) return convert<std::uint8_t>(bytes, out);
  if (number == Number::kUint16) return convert<std::uint16_t>(bytes, out);
  throw Error(Status::kInternal, "numbers of a TIFF file that 16 bits do not hold");
}

}  // namespace

const char* name_of(Number number) noexcept {
  switch (number) {
    case Number::kUint8:
      return "uint8";
    case Number::kInt8:
      return "int8";
    case Number::kUint16:
      return "uint16";
    case Number::kInt16:
      return "int16";
    case Number::kUint32:
      return "uint32";
    case Number::kInt32:
      return "int32";
    case Number::kFloat32:
      return "float32";
    default:
      return "float64";
  }
}

Reader::Reader(const std::string& path) : file_(path) {
  Directory directory = read_directory(file_);
  swapped_ = directory.swapped;
  pages_ = std::move(directory.pages);
}

template <class Value>
void Reader::read_rows(std::size_t number, std::size_t first, std::size_t rows,
                       std::span<Value> out) const {
  const Page& page = pages_.at(number);
  if (first > page.height || rows > page.height - first || out.size() != rows * page.width) {
    throw Error(Status::kInternal, file_.path() + ": no such rows");
  }
  const auto fill = [&](std::uint64_t from, std::span<std::uint8_t> bytes) {
    if (file_.read(from, bytes) != bytes.size()) {
      throw Error(Status::kCorrupt, file_.path() + ": ends too early for its pixels");
    }
  };
  const std::size_t line = page.row_bytes(), size = bytes_of(page.number);
  std::vector<std::uint8_t> bytes, packed;
  for (std::size_t row = first; row < first + rows;) {
    const std::size_t strip = row / page.strip_rows, begin = strip * page.strip_rows;
    const std::size_t end = std::min(begin + page.rows_of(strip), first + rows);
    std::size_t skip = row - begin;
    if (page.packing == Packing::kNone) {
      bytes.resize((end - row) * line);
      fill(page.strips[strip].offset + skip * line, bytes);
      skip = 0;
    } else {
      packed.resize(page.strips[strip].bytes);
      fill(page.strips[strip].offset, packed);
      bytes.resize(page.rows_of(strip) * line);
      unpack(page.packing, packed, bytes, file_.path());
    }
    if (swapped_) to_this_order(bytes, size);
    if (page.differences) add_differences(bytes, page.width, size);
    convert_all(page.number, std::span(bytes).subspan(skip * line),
                out.subspan((row - first) * page.width, (end - row) * page.width));
    row = end;
  }
}

void Reader::read(std::size_t page, std::size_t first, std::size_t rows,
                  std::span<float> out) const {
  read_rows(page, first, rows, out);
}
void Reader::read(std::size_t page, std::size_t first, std::size_t rows,
                  std::span<std::uint16_t> out) const {
  read_rows(page, first, rows, out);
}

}  // namespace loom::tiff
