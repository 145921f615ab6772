// SPDX-License-Identifier: BSD-3-Clause
// Parts begin at the first block behind evenly spaced places. A part writes 16 bits a symbol as
// long as its last 32 KB hold something from before it, then bytes, which stay where they are. What
// a part ends with is the next one's window. (The way of Kerbiriou & Chikhi 2019, Knespel & Brunst
// 2023.) As many packed bytes do not take as long everywhere (noise beside zeros): whoever is done
// takes over the second half of what another has still before it.
#include "loom/files/parallel_gunzip.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <list>
#include <mutex>
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
  std::uint64_t from = 0;   ///< its first block begins there or later
  std::uint64_t until = 0;  ///< where the next part begins to look for one
  std::uint64_t at = 0;     ///< where its reader is
  enum { kWaits, kRuns, kDone } state = kWaits;

  std::optional<std::uint64_t> begin;  ///< bit of its first block; without: it has none
  std::uint64_t end = 0;               ///< where it stopped
  bool last = false;                   ///< at the end of the stream
  bool good = false;
  std::optional<Unpacked<std::uint16_t>> marked;
  std::optional<Unpacked<std::uint8_t>> bytes;
  std::uint32_t sum = 0;  ///< CRC-32 of `bytes`
  /// Bits that its reader could leave to others.
  [[nodiscard]] std::uint64_t left() const noexcept {
    return state == kRuns && at < until ? until - at : 0;
  }
  [[nodiscard]] std::size_t size() const noexcept {
    return (marked ? marked->size() : 0) + (bytes ? bytes->size() : 0);
  }
};

/// The stream of a member, without header and trailer.
class Stream {
 public:
  Stream(std::span<const std::uint8_t> packed, std::size_t size, std::size_t parts,
         std::size_t least_part)
      : packed_(packed), size_(size), parts_(parts), least_bits_(8 * least_part) {
    const std::uint64_t bits = 8 * packed.size() / parts;
    std::uint64_t from = 0;
    for (Part& part : parts_) {
      part.from = part.at = from;
      part.until = from += bits;
    }
    parts_.back().until = 8 * packed.size();
  }

  /// False where something does not fit together.
  [[nodiscard]] bool unpack(Executor& executor) {
    executor.run(parts_.size(), [&](std::size_t) {
      while (Part* const part = next_part()) read(*part);
    });
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
    std::vector<Taken> taken;
    Window window(kWindow, 0);
    for (Part& part : parts_) {
      taken.push_back({&part, window, {}, 0});
      window = window_after(part, window);
    }
    executor.run(taken.size(), [&](std::size_t k) { take(taken[k]); });
    std::vector<Piece> out;
    crc = 0;
    for (Taken& t : taken) {
      std::size_t size = 0;
      for (Piece& piece : t.pieces) {
        size += piece.size;
        out.push_back(std::move(piece));
      }
      crc = crc32_joined(crc, t.sum, size);
    }
    return out;
  }

 private:
  using Window = std::vector<std::uint8_t>;
  struct Taken {
    Part* part;
    Window window;  ///< what stands before it
    std::vector<Piece> pieces;
    std::uint32_t sum;
  };

  /// One that waits, or half of what the slowest has left where that is worth it. Parts end where
  /// the next one begins, at the first block behind `until`: that may be moved as long as the
  /// reader has not come there.
  Part* next_part() {
    const std::lock_guard lock(mutex_);
    if (bad_) return nullptr;
    auto it = std::find_if(parts_.begin(), parts_.end(),
                           [](const Part& p) { return p.state == Part::kWaits; });
    if (it == parts_.end()) {
      const auto most =
          std::max_element(parts_.begin(), parts_.end(),
                           [](const Part& a, const Part& b) { return a.left() < b.left(); });
      if (most->left() < 2 * least_bits_) return nullptr;
      it = parts_.emplace(std::next(most));
      it->until = most->until;
      it->from = it->at = most->until = most->until - most->left() / 2;
    }
    it->state = Part::kRuns;
    return &*it;
  }

  /// The reader has come to `at`: is that its end, as far as it now stands?
  bool reached(Part& part, std::uint64_t at) {
    const std::lock_guard lock(mutex_);
    part.at = at;
    return at >= part.until;
  }

  std::uint64_t until_of(const Part& part) {
    const std::lock_guard lock(mutex_);
    return part.until;
  }

  void read(Part& part) {
    unpack(part);
    const std::lock_guard lock(mutex_);
    part.state = Part::kDone;
    if (part.begin && !part.good) bad_ = true;
  }

  void unpack(Part& part) {
    part.begin = part.from == 0 ? 0 : inflate::find_block(packed_, part.from, until_of(part));
    if (!part.begin) return;
    Inflater inflater(packed_, *part.begin);
    const auto at_end = [&] {
      return reached(part, inflater.position()) && inflater.at_dynamic_block();
    };
    Block block = Block::kMore;
    Window window(kWindow, 0);
    if (part.from > 0) {
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
      while (block == Block::kMore && !at_end()) {
        block = next_block(inflater, *part.bytes);
        // while they are in cache
        part.bytes->each_new([&](auto fresh) { part.sum = crc32(part.sum, fresh); });
      }
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

  static void take(Taken& taken) {
    Part& part = *taken.part;
    if (part.marked) {
      for (const auto& run : std::move(*part.marked).release()) {
        taken.pieces.push_back({Buffer<std::uint8_t>(run.size), 0, run.size});
        resolve(run.view(), taken.window, taken.pieces.back().storage.data());
        taken.sum = crc32(taken.sum, taken.pieces.back().view());
      }
    }
    if (part.bytes) {
      taken.sum = crc32_joined(taken.sum, part.sum, part.bytes->size());
      for (auto& run : std::move(*part.bytes).release())
        taken.pieces.push_back({std::move(run.storage), kWindow, run.size});
    }
    part = Part();
  }

  std::span<const std::uint8_t> packed_;
  std::size_t size_;
  std::list<Part> parts_;  ///< they stay where they are when others come between them
  std::uint64_t least_bits_;
  std::mutex mutex_;  ///< of parts_ as a list, and of their first four members
  bool bad_ = false;
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
  Stream stream(packed.subspan(*header, packed.size() - kTrailer - *header), size, parts,
                least_part);
  if (!stream.unpack(executor)) return std::nullopt;
  std::uint32_t crc = 0;
  std::vector<Piece> out = stream.pieces(executor, crc);
  if (crc != load_le<std::uint32_t>(trailer)) return std::nullopt;
  return out;
}

}  // namespace loom
