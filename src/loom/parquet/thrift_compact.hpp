// SPDX-License-Identifier: BSD-3-Clause
// Structs in Thrift's compact protocol, as Parquet's headers and footers are made of. Internal to
// parquet/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace loom::parquet {

/// One struct, and those inside it. Fields go in by rising number.
class Compact {
 public:
  void i32(int field, std::int32_t value) {
    head(field, kI32);
    zigzag(value);
  }
  void i64(int field, std::int64_t value) {
    head(field, kI64);
    zigzag(value);
  }
  void text(int field, std::string_view value) {
    head(field, kBinary);
    bytes(value);
  }
  void begin_struct(int field) {
    head(field, kStruct);
    enter();
  }
  void end_struct() {
    out_ += '\0';
    last_.pop_back();
  }
  void begin_structs(int field, std::size_t count) { list(field, kStruct, count); }
  /// One of the structs of a list; ends with end_struct().
  void begin_element() { enter(); }
  void numbers(int field, const std::vector<std::int32_t>& values) {
    list(field, kI32, values.size());
    for (const std::int32_t v : values) zigzag(v);
  }
  void texts(int field, const std::vector<std::string>& values) {
    list(field, kBinary, values.size());
    for (const std::string& v : values) bytes(v);
  }
  /// The struct as it stands; of no further use then.
  [[nodiscard]] std::string finish() {
    out_ += '\0';
    return std::move(out_);
  }

 private:
  enum Type : unsigned { kI32 = 5, kI64 = 6, kBinary = 8, kList = 9, kStruct = 12 };
  void enter() { last_.push_back(0); }
  void byte(unsigned value) { out_ += static_cast<char>(static_cast<unsigned char>(value)); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) byte(static_cast<unsigned>(value & 0x7f) | 0x80U);
    byte(static_cast<unsigned>(value));
  }
  void zigzag(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    varint(value < 0 ? ~(bits << 1) : bits << 1);
  }
  void bytes(std::string_view value) {
    varint(value.size());
    out_ += value;
  }
  void head(int field, Type type) {  // fields follow one another within 15
    byte(static_cast<unsigned>(field - last_.back()) << 4 | type);
    last_.back() = field;
  }
  void list(int field, Type type, std::size_t count) {
    head(field, kList);
    if (count < 15) return byte(static_cast<unsigned>(count) << 4 | type);
    byte(0xf0U | type);
    varint(count);
  }
  std::string out_;
  std::vector<int> last_{0};  ///< the last field of each struct that is open
};

}  // namespace loom::parquet
