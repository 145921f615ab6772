// SPDX-License-Identifier: BSD-3-Clause
// A scan by blocks of rows, each number unpacked once: straight from the file where its chunks lie
// within blocks, else (or where numbers are
// worked out when they are asked for) by way of a spool.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "loom/base/log.hpp"
#include "tomoloom/exchange/frame_source.hpp"
#include "tomoloom/exchange/row_spool.hpp"

namespace tomoloom {

/// Rows [first, first + rows) of a scan in blocks of block_rows.
struct BlockRows {
  std::size_t first = 0, rows = 0, block_rows = 0;
};

class BlockSource {
 public:
  /// Spools lie in `folder`. With `frames_alone` flats and darks are not wanted.
  BlockSource(const FrameSource& reader, const BlockRows& rows, std::string folder,
              bool frames_alone);

  /// Whether any of the scan goes through a spool, and bytes that reading takes beside the blocks.
  [[nodiscard]] bool spools() const noexcept;
  [[nodiscard]] std::uint64_t buffer_bytes() const noexcept;

  /// One block's rows of everything that is wanted. The first call fills the spools. Throws
  /// kCorrupt, kUnwritable, kDiskFull, kInterrupted.
  void read(std::size_t first, std::size_t rows, FrameBlock& projections, FrameBlock& flats,
            FrameBlock& darks, const Observer& observer);

 private:
  struct Set {
    std::string name;
    std::size_t frames = 0;
    std::size_t box_frames = 1, box_rows = 0;  ///< of the file's boxes; 0 rows: read straight
    std::unique_ptr<RowSpool> spool;
  };
  void add(const std::string& name, std::size_t frames);
  void fill(Set& set, const Observer& observer) const;
  void read_set(const Set& set, std::size_t first, std::size_t rows, FrameBlock& out) const;

  const FrameSource& reader_;
  BlockRows rows_;
  std::string folder_;
  std::vector<Set> sets_;
  bool filled_ = false;
};

}  // namespace tomoloom
