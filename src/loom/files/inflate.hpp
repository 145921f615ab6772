// SPDX-License-Identifier: BSD-3-Clause
// A DEFLATE stream (RFC 1951) block by block, from any bit on, also where what lies before is not
// known: for parallel_gunzip.cpp. Whole streams are libdeflate's (gzip.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "loom/base/array.hpp"
#include "loom/files/inflate_kernels.hpp"

namespace loom::inflate {

/// Unpacked symbols: bytes, or 16 bits where a symbol of 256 + i stands for byte i of the kWindow
/// unknown ones before the first. They lie in buffers one after the other, none of which grows.
template <class Symbol>
class Unpacked {
 public:
  struct Run {
    Buffer<Symbol> storage;  ///< kWindow symbols of before, then its own
    std::size_t size = 0;    ///< of its own
    [[nodiscard]] std::span<const Symbol> view() const { return {storage.data() + kWindow, size}; }
  };

  /// `window`: what stands before the first.
  explicit Unpacked(std::span<const Symbol, kWindow> window) { begin_run(window.data()); }
  [[nodiscard]] std::size_t size() const noexcept { return before_ + runs_.back().size; }
  /// Where the next symbol goes; kWindow symbols stand before it.
  [[nodiscard]] Symbol* place() noexcept {
    return runs_.back().storage.data() + kWindow + runs_.back().size;
  }
  [[nodiscard]] std::span<const Symbol, kWindow> window() const noexcept {
    return std::span<const Symbol, kWindow>(runs_.back().storage.data() + runs_.back().size,
                                            kWindow);
  }
  /// Symbols that may be written at place(), kSlack among them.
  [[nodiscard]] std::size_t room() const noexcept { return kRun + kSlack - runs_.back().size; }
  void add(std::size_t symbols) noexcept { runs_.back().size += symbols; }
  void next_run() {
    before_ += runs_.back().size;
    begin_run(window().data());
  }
  /// f(symbols) for all that were added since the last call, in their order.
  template <class F>
  void each_new(F&& f) {
    for (;; ++seen_run_, seen_ = 0) {
      f(runs_[seen_run_].view().subspan(seen_));
      seen_ = runs_[seen_run_].size;
      if (seen_run_ + 1 == runs_.size()) return;
    }
  }
  [[nodiscard]] std::vector<Run> release() && noexcept { return std::move(runs_); }

 private:
  static constexpr std::size_t kRun = std::size_t{4} << 20;
  void begin_run(const Symbol* window);
  std::vector<Run> runs_;
  std::size_t before_ = 0;               ///< symbols of all runs but the last
  std::size_t seen_run_ = 0, seen_ = 0;  ///< by each_new(): runs, and symbols of the next
};

enum class Block { kMore, kLast, kBad };

class Inflater {
 public:
  /// Of `packed`, from bit `first` on.
  Inflater(std::span<const std::uint8_t> packed, std::uint64_t first);

  /// Of the next bit: of a block's header between calls.
  [[nodiscard]] std::uint64_t position() const noexcept { return bits_.position(); }
  /// Is the next a block with codes of its own, and not the last?
  [[nodiscard]] bool at_dynamic_block() noexcept;
  /// Appends what the next block holds. kBad where it is none, ends too early, or `out` would hold
  /// more than `most` symbols.
  template <class Symbol>
  [[nodiscard]] Block next_block(Unpacked<Symbol>& out, std::size_t most);

 private:
  bool read_codes();
  void fixed_codes();
  template <class Symbol>
  bool stored(Unpacked<Symbol>& out, std::size_t most);
  Bits bits_;
  const Kernels& kernels_;
  std::vector<std::uint32_t> lengths_, distances_;
};

/// The first bit in [first, last) at which a block with codes of its own begins that is not the
/// stream's last, as far as its header tells.
[[nodiscard]] std::optional<std::uint64_t> find_block(std::span<const std::uint8_t> packed,
                                                      std::uint64_t first, std::uint64_t last);

}  // namespace loom::inflate
