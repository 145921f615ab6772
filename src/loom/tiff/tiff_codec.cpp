// SPDX-License-Identifier: BSD-3-Clause
#include "loom/tiff/tiff_codec.hpp"

#include <array>
#include <cstring>

#include "loom/base/error.hpp"
#include "loom/files/gzip.hpp"

namespace loom::tiff {
namespace {

[[noreturn]] void damaged(const std::string& label) {
  throw Error(Status::kCorrupt, label + ": a packed strip is damaged");
}

/// Welch 1984 as TIFF has it: bits from the highest on, codes of 9 to 12 bits, longer ones one code
/// early.
class Lzw {
 public:
  Lzw(std::span<const std::uint8_t> packed, const std::string& label)
      : packed_(packed), label_(label) {
    for (std::size_t i = 0; i < kClear; ++i) {
      const auto byte = static_cast<std::uint8_t>(i);
      words_[i] = {.length = 1, .before = 0, .first = byte, .last = byte};
    }
  }

  void run(std::span<std::uint8_t> out) {
    std::size_t done = 0, before = kNone;
    while (done < out.size()) {
      const std::size_t code = next_code();
      if (code == kEnd) damaged(label_);
      if (code == kClear) {
        count_ = kFirst;
        bits_ = kLeastBits;
        before = kNone;
        continue;
      }
      if (before == kNone ? code >= kClear : code > count_ || (code == count_ && count_ == kMost)) {
        damaged(label_);
      }
      if (before != kNone && count_ < kMost) {
        const std::size_t first = code == count_ ? before : code;
        words_[count_] = {.length = static_cast<std::uint16_t>(words_[before].length + 1),
                          .before = static_cast<std::uint16_t>(before),
                          .first = words_[before].first,
                          .last = words_[first].first};
        ++count_;
      }
      if (count_ + 1 >= (std::size_t{1} << bits_) && bits_ < kMostBits) ++bits_;
      const std::size_t length = words_[code].length;
      if (length > out.size() - done) damaged(label_);
      for (std::size_t i = length, word = code; i-- > 0; word = words_[word].before) {
        out[done + i] = words_[word].last;
      }
      done += length;
      before = code;
    }
  }

 private:
  static constexpr std::size_t kClear = 256, kEnd = 257, kFirst = 258, kMost = 4096;
  static constexpr std::size_t kNone = kMost;
  static constexpr unsigned kLeastBits = 9, kMostBits = 12;
  struct Word {
    std::uint16_t length, before;
    std::uint8_t first, last;
  };

  std::size_t next_code() {
    if (at_ + bits_ > 8 * packed_.size()) damaged(label_);
    std::size_t code = 0;
    for (unsigned i = 0; i < bits_; ++i, ++at_) {
      code = 2 * code + (packed_[at_ / 8] >> (7 - at_ % 8) & 1U);
    }
    return code;
  }

  std::span<const std::uint8_t> packed_;
  const std::string& label_;
  std::array<Word, kMost> words_{};
  std::size_t count_ = kFirst, at_ = 0;  ///< words known; bits read
  unsigned bits_ = kLeastBits;
};

template <class T>
void add_row(std::uint8_t* row, std::size_t width) {
  T sum = 0;
  for (std::size_t x = 0; x < width; ++x) {
    T value;
    std::memcpy(&value, row + x * sizeof(T), sizeof(T));
    sum = static_cast<T>(sum + value);
    std::memcpy(row + x * sizeof(T), &sum, sizeof(T));
  }
}

}  // namespace

void unpack(Packing packing, std::span<const std::uint8_t> packed, std::span<std::uint8_t> out,
            const std::string& label) {
  if (packing == Packing::kLzw) return Lzw(packed, label).run(out);
  unzlib(packed, out, label);
}

void add_differences(std::span<std::uint8_t> rows, std::size_t width, std::size_t number_bytes) {
  const std::size_t row = width * number_bytes;
  for (std::size_t at = 0; at + row <= rows.size(); at += row) {
    if (number_bytes == 1) add_row<std::uint8_t>(rows.data() + at, width);
    if (number_bytes == 2) add_row<std::uint16_t>(rows.data() + at, width);
    if (number_bytes == 4) add_row<std::uint32_t>(rows.data() + at, width);
  }
}

}  // namespace loom::tiff
