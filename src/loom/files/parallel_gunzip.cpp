// SPDX-License-Identifier: BSD-3-Clause
// Parts begin at the first block behind evenly spaced places. A part writes 16 bits a symbol as
// long as its last 32 KB hold something from before it, then bytes, which stay where they are. What
// a part ends with is the next one's window. (The way of Kerbiriou & Chikhi 2019, Knespel & Brunst
// 2023.)
#include "loom/files/parallel_gunzip.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

#include "loom/files/byte_order.hpp"
#include "loom/files/gzip.hpp"
#include "loom/files/inflate.hpp"

namespace loom {
namespace {

using inflate::Block;
using inflate::Inflater;
using inflate::kWindow;
using inflate::Unpacked;

constexpr std::size_t kTrailer = 8;

/// Where the deflate stream begins behind a gzip header (RFC 1952), if all of that is there.
std::optional<std::size_t> after_header(std::span<const std::uint8_t> packed) {
  enum Flag : unsigned { kCrc = 2, kExtra = 4, kName = 8, kComment = 16 };
  std::size_t at = 10;
  if (packed.size() < at + kTrailer || !is_gzip(packed)) return std::nullopt;
  const unsigned flags = packed[3];
  if ((flags & kExtra) != 0) at += 2U + packed[10] + 256U * packed[11];
  for (const Flag text : {kName, kComment}) {
    if ((flags & text) == 0) continue;
    while (at < packed.size() && packed[at] != 0) ++at;
    ++at;
  }
  if ((flags & kCrc) != 0) at += 2;
  if (at + kTrailer >= packed.size()) return std::nullopt;
  return at;
}

struct Part {
  std::optional<std::uint64_t> begin;  ///< bit of its first block; without: it has none
  std::uint64_t end = 0;               ///< where it stopped
  bool last = false;                   ///< at the end of the stream
  bool good = false;
  std::optional<Unpacked<std::uint16_t>> marked;
  std::optional<Unpacked<std::uint8_t>> bytes;
  [[nodiscard]] std::size_t size() const noexcept {
    return (marked ? marked->size() : 0) + (bytes ? bytes->size() : 0);
  }
};

/// The stream of a member, without header and trailer.
class Stream {
 public:
  Stream(std::span<const std::uint8_t> packed, std::size_t size, std::size_t parts)
      : packed_(packed), size_(size), parts_(parts), part_bits_(8 * packed.size() / parts) {}

  /// False where something does not fit together.
  [[nodiscard]] bool unpack(Executor& executor) {
    executor.run(parts_.size(), [&](std::size_t k) { read(k); });
    std::uint64_t at = 0;
    std::size_t size = 0;
    bool last = false;
    for (const Part& part : parts_) {
      if (!part.begin) continue;  // no block begins behind it: an earlier part went on to the end
      if (!part.good || last || *part.begin != at) return false;
      at = part.end;
      last = part.last;
      size += part.size();
    }
    return last && size == size_ && (at + 7) / 8 == packed_.size();
  }

  /// In their order, and the CRC-32 of them all.
  std::vector<Piece> pieces(Executor& executor, std::uint32_t& crc) {
    std::vector<Window> windows(parts_.size() + 1, Window(kWindow, 0));
    for (std::size_t k = 0; k < parts_.size(); ++k)
      windows[k + 1] = window_after(parts_[k], windows[k]);
    std::vector<std::vector<Piece>> of_part(parts_.size());
    std::vector<std::uint32_t> sums(parts_.size(), 0);
    executor.run(parts_.size(), [&](std::size_t k) {
      of_part[k] = take(parts_[k], windows[k]);
      for (const Piece& piece : of_part[k]) sums[k] = crc32(sums[k], piece.view());
    });
    std::vector<Piece> out;
    crc = 0;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      std::size_t size = 0;
      for (Piece& piece : of_part[k]) {
        size += piece.size;
        out.push_back(std::move(piece));
      }
      crc = crc32_joined(crc, sums[k], size);
    }
    return out;
  }

 private:
  using Window = std::vector<std::uint8_t>;

  void read(std::size_t k) {
    Part& part = parts_[k];
    const std::uint64_t from = k * part_bits_;
    part.begin = k == 0 ? 0 : inflate::find_block(packed_, from, 8 * packed_.size());
    if (!part.begin) return;
    const bool ends = k + 1 == parts_.size();
    const std::uint64_t until = ends ? 8 * packed_.size() : from + part_bits_;
    Inflater inflater(packed_, *part.begin);
    const auto at_end = [&] { return inflater.position() >= until && inflater.at_dynamic_block(); };
    Block block = Block::kMore;
    Window window(kWindow, 0);
    if (k > 0) {
      std::vector<std::uint16_t> unknown(kWindow);
      std::iota(unknown.begin(), unknown.end(), std::uint16_t{256});
      part.marked.emplace(std::span<const std::uint16_t, kWindow>(unknown));
      while (block == Block::kMore && !at_end() && !is_known(part.marked->window()))
        block = next_block(inflater, *part.marked);
      std::transform(part.marked->window().begin(), part.marked->window().end(), window.begin(),
                     [](std::uint16_t s) { return static_cast<std::uint8_t>(s); });
    }
    if (block == Block::kMore && !at_end()) {
      part.bytes.emplace(std::span<const std::uint8_t, kWindow>(window));
      while (block == Block::kMore && !at_end()) block = next_block(inflater, *part.bytes);
    }
    part.end = inflater.position();
    part.last = block == Block::kLast;
    part.good = block != Block::kBad;
  }

  /// All parts together have `size_` symbols, and no more room is taken.
  template <class Symbol>
  Block next_block(Inflater& inflater, Unpacked<Symbol>& out) {
    const std::size_t before = out.size();
    const Block block = inflater.next_block(out, size_);
    made_ += out.size() - before;
    return made_ <= size_ ? block : Block::kBad;
  }

  static bool is_known(std::span<const std::uint16_t> symbols) {
    return std::all_of(symbols.begin(), symbols.end(), [](std::uint16_t s) { return s < 256; });
  }

  /// What marked symbols are behind that window.
  static void resolve(std::span<const std::uint16_t> marked, const Window& window,
                      std::uint8_t* to) {
    std::vector<std::uint8_t> meaning(256 + kWindow);
    std::iota(meaning.begin(), meaning.begin() + 256, std::uint8_t{0});
    std::copy(window.begin(), window.end(), meaning.begin() + 256);
    for (const std::uint16_t symbol : marked) *to++ = meaning[symbol];
  }

  static Window window_after(const Part& part, const Window& before) {
    Window out = before;
    if (part.bytes) {
      std::copy(part.bytes->window().begin(), part.bytes->window().end(), out.begin());
    } else if (part.marked) {
      resolve(part.marked->window(), before, out.data());
    }
    return out;
  }

  static std::vector<Piece> take(Part& part, const Window& window) {
    std::vector<Piece> out;
    if (part.marked) {
      for (const auto& run : std::move(*part.marked).release()) {
        out.push_back({Buffer<std::uint8_t>(run.size), 0, run.size});
        resolve(run.view(), window, out.back().storage.data());
      }
    }
    if (part.bytes) {
      for (auto& run : std::move(*part.bytes).release())
        out.push_back({std::move(run.storage), kWindow, run.size});
    }
    part = Part();
    return out;
  }

  std::span<const std::uint8_t> packed_;
  std::size_t size_;
  std::vector<Part> parts_;
  std::uint64_t part_bits_;
  std::atomic<std::size_t> made_{0};
};

}  // namespace

std::optional<std::vector<Piece>> parallel_gunzip(std::span<const std::uint8_t> packed,
                                                  std::size_t max_bytes, Executor& executor,
                                                  std::size_t least_part) {
  // A part a thread: each more costs a stretch of symbols of 16 bits.
  const std::size_t parts = std::min(executor.concurrency(), packed.size() / least_part);
  const auto header = after_header(packed);
  if (parts < 2 || !header) return std::nullopt;
  const std::uint8_t* trailer = packed.data() + packed.size() - kTrailer;
  const std::size_t size = load_le<std::uint32_t>(trailer + 4);
  if (size > max_bytes) return std::nullopt;
  Stream stream(packed.subspan(*header, packed.size() - kTrailer - *header), size, parts);
  if (!stream.unpack(executor)) return std::nullopt;
  std::uint32_t crc = 0;
  std::vector<Piece> out = stream.pieces(executor, crc);
  if (crc != load_le<std::uint32_t>(trailer)) return std::nullopt;
  return out;
}

}  // namespace loom
