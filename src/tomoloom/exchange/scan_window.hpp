// SPDX-License-Identifier: BSD-3-Clause
// What is used of a scan: some of its columns, pixels averaged together, projections left out. It
// stands where the scan stood.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tomoloom/exchange/frame_source.hpp"

namespace tomoloom {

struct WindowChoice {
  std::size_t first_column = 0;
  std::optional<std::size_t> end_column = {};  ///< none: all
  std::size_t bin = 1;                         ///< pixels averaged in both directions
  /// Projections [first, end) that are left out, in order, apart from each other.
  std::vector<std::pair<std::size_t, std::size_t>> skipped = {};

  [[nodiscard]] bool all() const noexcept {
    return first_column == 0 && !end_column && bin == 1 && skipped.empty();
  }
  /// Where a column of the detector lies in the window: pixels' middles are whole numbers in both.
  [[nodiscard]] double to_window(double column) const noexcept {
    const auto b = static_cast<double>(bin);
    return (column - static_cast<double>(first_column) + 0.5) / b - 0.5;
  }
  [[nodiscard]] double to_detector(double column) const noexcept {
    const auto b = static_cast<double>(bin);
    return (column + 0.5) * b - 0.5 + static_cast<double>(first_column);
  }
};

/// Rows and columns that do not fill a last averaged pixel are left out.
class ScanWindow final : public FrameSource {
 public:
  /// Throws kSliceRange (columns or projections that the scan does not have, or too few left). Of a
  /// scan that grows there may be no projection yet.
  ScanWindow(std::unique_ptr<FrameSource> scan, const WindowChoice& choice);

  void frames(const std::string& name, std::size_t frame, std::size_t frames, std::size_t first,
              std::size_t rows, FrameBlock& out) const override;
  [[nodiscard]] std::vector<std::size_t> chunk(const std::string& name) const override;
  [[nodiscard]] std::string identity() const override { return scan_->identity(); }
  [[nodiscard]] bool grows() const noexcept override { return scan_->grows(); }
  [[nodiscard]] std::uint64_t buffer_bytes() const noexcept override;

 private:
  void keep_filter();
  /// Of neighbouring frames of the scan, to frame `at` of the block.
  void read_run(const std::string& name, std::size_t frame, std::size_t frames, std::size_t first,
                std::size_t at, FrameBlock& out) const;

  std::unique_ptr<FrameSource> scan_;
  WindowChoice choice_;
  std::vector<std::size_t> kept_;  ///< projections of the scan
};

}  // namespace tomoloom
