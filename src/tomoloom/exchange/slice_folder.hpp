// SPDX-License-Identifier: BSD-3-Clause
// Volumes as folders of TIFF images, one float32 image a slice, named by the row that it is of:
// slice_00017.tiff. The folder appears when it is whole.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loom/files/atomic_file.hpp"
#include "tomoloom/exchange/part_folder.hpp"
#include "tomoloom/exchange/slice_sink.hpp"

namespace tomoloom {

class SliceFolder final : public SliceSink {
 public:
  /// Throws what PartFolder does.
  SliceFolder(const std::string& folder, Overwrite overwrite, const VolumeShape& shape,
              std::span<const VolumeNote> notes, const std::optional<std::string>& making = {});

  [[nodiscard]] std::size_t slices_done() const override { return folder_.slices_done(); }
  [[nodiscard]] bool done(std::size_t first, std::size_t count) const override {
    return folder_.done(first, count);
  }
  void write(std::size_t first, std::span<const float> slices) override;
  void commit() override { folder_.commit(); }
  void discard() override { folder_.discard(); }

  /// "slice_00017.tiff"
  [[nodiscard]] static std::string file_name(std::size_t row);

 private:
  PartFolder folder_;
  VolumeShape shape_;
  std::vector<std::uint8_t> header_;  ///< of every image
};

}  // namespace tomoloom
