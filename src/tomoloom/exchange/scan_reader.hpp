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
#include "tomoloom/foundation.hpp"

namespace tomoloom {

/// Where a scan's angles came from.
enum class AngleSource { kTheta, kRotation, kAssumed };

struct ScanLayout {
  std::string path, group;        ///< "exchange", "exchange1" ...
  std::string data, white, dark;  ///< names of data sets; empty: there is none
  std::size_t angles = 0, rows = 0, columns = 0, flats = 0, darks = 0;
  std::vector<double> theta_deg;
  AngleSource source = AngleSource::kTheta;
  bool counts = false;                    ///< 16-bit counts: read as they are, without a conversion
  std::string type;                       ///< "uint16", "float32" ..., for messages
  double flat_value = 0, dark_value = 0;  ///< in place of frames, where the file gives numbers
  bool has_flat_value = false, has_dark_value = false;
};

/// Frames of one kind, rows [first, first + rows) of each: [frame][row][column].
struct FrameBlock {
  std::size_t frames = 0, rows = 0, columns = 0;
  std::vector<std::uint16_t> counts;  ///< of a layout with counts
  std::vector<float> floats;          ///< of any other
};

/// Angles: /GROUP/theta in degrees; else start and step below /process/acquisition/rotation; else
/// 0 to 180 degrees, both included, as the peers assume. Flats: /GROUP/data_white, else the value
/// flat_field_value below /process/acquisition/flat_fields; darks alike.
class ScanReader {
 public:
  /// Throws kNotFound, kCorrupt, kMissingHdu (no GROUP/data), kWrongShape (not
  /// [angle][row][column], empty, or far too large), kScanMismatch (flats, darks or angles that do
  /// not fit).
  ScanReader(const std::string& path, const std::string& group);

  [[nodiscard]] const ScanLayout& layout() const noexcept { return layout_; }
  /// Throws kCorrupt.
  void projections(std::size_t first, std::size_t rows, FrameBlock& out) const;
  void flats(std::size_t first, std::size_t rows, FrameBlock& out) const;
  void darks(std::size_t first, std::size_t rows, FrameBlock& out) const;
  /// Rows of some frames of a data set of the layout.
  void frames(const std::string& name, std::size_t frame, std::size_t frames, std::size_t first,
              std::size_t rows, FrameBlock& out) const;
  /// The box in which it is stored; empty where rows lie one after the other.
  [[nodiscard]] std::vector<std::size_t> chunk(const std::string& name) const {
    return reader_.chunk(name);
  }

 private:
  void find_angles();
  [[nodiscard]] std::size_t find_frames(const std::string& name) const;
  [[nodiscard]] bool are_counts(const std::string& name) const;
  [[nodiscard]] double number(const std::string& name) const;
  hdf5::Reader reader_;
  ScanLayout layout_;
};

}  // namespace tomoloom
