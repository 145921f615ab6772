// SPDX-License-Identifier: BSD-3-Clause
// What a scan is, whatever files it lies in: its layout, and rows of its frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tomoloom/foundation.hpp"

namespace tomoloom {

/// Where a scan's angles came from.
enum class AngleSource { kTheta, kRotation, kAssumed, kGiven };

struct ScanLayout {
  std::string path, group;        ///< "exchange", "exchange1" ...; empty: a stack of images
  std::string data, white, dark;  ///< names of sets of frames; empty: there is none
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

/// No detector, no scan has more along an axis.
inline constexpr std::size_t kMostOfAnAxis = std::size_t{1} << 20;

class FrameSource {
 public:
  virtual ~FrameSource() = default;
  [[nodiscard]] const ScanLayout& layout() const noexcept { return layout_; }
  /// Rows of some frames of a set of the layout. Throws kCorrupt.
  virtual void frames(const std::string& name, std::size_t frame, std::size_t frames,
                      std::size_t first, std::size_t rows, FrameBlock& out) const = 0;
  /// The box (frames, rows, columns) in which a set is stored; empty where rows lie one after the
  /// other.
  [[nodiscard]] virtual std::vector<std::size_t> chunk(const std::string& name) const = 0;
  /// Whether frames are worked out anew each time: best asked for once, as whole chunks.
  [[nodiscard]] virtual bool made_when_asked() const noexcept { return false; }
  /// A text that changes when the files do.
  [[nodiscard]] virtual std::string identity() const = 0;

  /// Angles from elsewhere. Throws kScanMismatch where they are not one a projection.
  void give_angles(std::vector<double> theta_deg);

 protected:
  FrameSource() = default;
  FrameSource(const FrameSource&) = default;
  FrameSource& operator=(const FrameSource&) = default;
  /// 0 to 180 degrees, both included, as the peers assume.
  void assume_angles();
  ScanLayout layout_;
};

/// Size and time of a file, as text.
[[nodiscard]] std::string file_stamp(const std::string& path);

/// "720 x 1024 x 1024"
[[nodiscard]] std::string sizes_of(const std::vector<std::size_t>& shape);

}  // namespace tomoloom
