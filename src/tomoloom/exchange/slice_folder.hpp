// SPDX-License-Identifier: BSD-3-Clause
// Volumes as folders of TIFF images, one float32 image a slice, named by the row that it is of:
// slice_00017.tiff. The folder appears when it is whole.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loom/files/atomic_file.hpp"
#include "tomoloom/exchange/block_record.hpp"
#include "tomoloom/exchange/slice_sink.hpp"

namespace tomoloom {

class SliceFolder final : public SliceSink {
 public:
  /// With `making` as VolumeWriter has it: the unfinished folder is FOLDER.part, its record
  /// FOLDER.part.done. A folder that is there is replaced where it holds slices alone. Throws
  /// kOutputExists (it holds something else, or is not to be replaced), kUnwritable, kDiskFull.
  SliceFolder(const std::string& folder, Overwrite overwrite, const VolumeShape& shape,
              std::span<const VolumeNote> notes, const std::optional<std::string>& making = {});
  ~SliceFolder() override;
  SliceFolder(const SliceFolder&) = delete;
  SliceFolder& operator=(const SliceFolder&) = delete;

  [[nodiscard]] std::size_t slices_done() const override;
  [[nodiscard]] bool done(std::size_t first, std::size_t count) const override;
  void write(std::size_t first, std::span<const float> slices) override;
  void commit() override;
  void discard() override;

  /// "slice_00017.tiff"
  [[nodiscard]] static std::string file_name(std::size_t row);

 private:
  void make_part(bool stays);
  void sync() const;
  void write_slice(std::size_t number, std::span<const float> slice) const;

  std::string given_, folder_, part_;
  Overwrite overwrite_;
  VolumeShape shape_;
  std::vector<std::uint8_t> header_;  ///< of every image
  std::optional<BlockRecord> record_;
  int fd_ = -1;  ///< of the unfinished folder; locks it
};

}  // namespace tomoloom
