// SPDX-License-Identifier: BSD-3-Clause
// Scans in Data Exchange files: what there is, and projections by blocks of rows. Knows nothing of
// what is done with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "loom/hdf5/hdf5.hpp"
#include "tomoloom/exchange/frame_source.hpp"

namespace tomoloom {

/// Angles: /GROUP/theta in degrees; else start and step below /process/acquisition/rotation; else
/// 0 to 180 degrees, both included, as the peers assume. Of a scan that is still being written the
/// projections that have angles, or all of them where none are there yet. Flats: /GROUP/data_white,
/// else the value flat_field_value below /process/acquisition/flat_fields; darks alike.
class ScanReader final : public FrameSource {
 public:
  /// Throws kNotFound, kCorrupt, kMissingHdu (no GROUP/data), kWrongShape (not
  /// [angle][row][column], empty, or far too large), kScanMismatch (flats, darks or angles that do
  /// not fit).
  ScanReader(const std::string& path, const std::string& group,
             hdf5::Writing writing = hdf5::Writing::kOver);

  /// Throws kCorrupt.
  void projections(std::size_t first, std::size_t rows, FrameBlock& out) const;
  void flats(std::size_t first, std::size_t rows, FrameBlock& out) const;
  void darks(std::size_t first, std::size_t rows, FrameBlock& out) const;
  void frames(const std::string& name, std::size_t frame, std::size_t frames, std::size_t first,
              std::size_t rows, FrameBlock& out) const override;
  [[nodiscard]] std::vector<std::size_t> chunk(const std::string& name) const override {
    return reader_.chunk(name);
  }
  /// All that it lies in: its own, and those that links and virtual data sets lead to.
  [[nodiscard]] std::vector<std::string> files() const;
  [[nodiscard]] std::string identity() const override;
  [[nodiscard]] bool grows() const noexcept override { return grows_; }

 private:
  void check_kind() const;
  void find_angles(hdf5::Writing writing);
  [[nodiscard]] std::string angle_unit(const std::string& angle) const;
  [[nodiscard]] std::vector<double> written_angles(hdf5::Writing writing) const;
  [[nodiscard]] std::size_t find_frames(const std::string& name) const;
  [[nodiscard]] bool are_counts(const std::string& name) const;
  [[nodiscard]] double number(const std::string& name) const;
  hdf5::Reader reader_;
  bool grows_;
};

}  // namespace tomoloom
