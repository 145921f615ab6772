// SPDX-License-Identifier: BSD-3-Clause
// Volumes as OME-Zarr: Zarr version 2 with NGFF 0.4 multiscales, the volume and halves of it in
// size, each in chunks of its own files. The folder appears when it is whole.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loom/files/atomic_file.hpp"
#include "tomoloom/exchange/part_folder.hpp"
#include "tomoloom/exchange/slice_sink.hpp"

namespace tomoloom {

/// Level k averages boxes of 2^k voxels along each axis, fewer at the ends, and has chunks of
/// slices_per_block / 2^k x kChunkWide x kChunkWide: a block of slices is whole chunks in each.
class ZarrVolume final : public SliceSink {
 public:
  static constexpr std::size_t kChunkWide = 128;
  struct Chunks {
    std::size_t slices_per_block = 32;  ///< a power of two: write() begins at its multiples
    int level = 0;                      ///< of zlib; 0: not packed
  };

  /// Throws what PartFolder does.
  ZarrVolume(const std::string& folder, Overwrite overwrite, const VolumeShape& shape,
             std::span<const VolumeNote> notes, const Chunks& chunks,
             const std::optional<std::string>& making = {});

  [[nodiscard]] std::size_t slices_done() const override { return folder_.slices_done(); }
  [[nodiscard]] bool done(std::size_t first, std::size_t count) const override {
    return folder_.done(first, count);
  }
  void write(std::size_t first, std::span<const float> slices) override;
  void commit() override;
  void discard() override { folder_.discard(); }

  /// Files of the finished volume, relative to its folder.
  [[nodiscard]] static std::vector<std::string> files(const VolumeShape& shape,
                                                      const Chunks& chunks);
  /// Levels and what was done, of the folder's attributes; empty where it has none. Throws
  /// kCorrupt.
  [[nodiscard]] static std::vector<VolumeNote> describe(const std::string& folder);

 private:
  void write_level(std::size_t level, std::size_t block, std::span<const float> voxels);

  PartFolder folder_;
  VolumeShape shape_;
  Chunks chunks_;
  std::vector<VolumeNote> notes_;
};

}  // namespace tomoloom
