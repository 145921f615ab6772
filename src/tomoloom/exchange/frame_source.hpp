// SPDX-License-Identifier: BSD-3-Clause
// What a scan is, whatever files it lies in: its layout, and rows of its frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loom/base/large_vector.hpp"
#include "tomoloom/foundation.hpp"

namespace tomoloom {

/// Where a scan's angles came from.
enum class AngleSource { kTheta, kRotation, kAssumed, kGiven };

struct ScanLayout {
  std::string path, group;        ///< "exchange", "exchange1" ...; empty: a stack of images
  std::string data, white, dark;  ///< names of sets of frames; empty: there is none
  std::size_t angles = 0, rows = 0, columns = 0, flats = 0, darks = 0;
  std::size_t expected = 0;  ///< projections of a scan that may still grow, as far as it says
  bool says_expected = false;
  std::vector<double> theta_deg;
  std::string
      strange_unit;  ///< of the file's angles, which are no degrees then; empty: it is known
  std::optional<double> middle;  ///< where the detector's row has its; none: (columns - 1) / 2
  std::vector<double> axis;  ///< of each row the column that it sees the axis in; empty: not known
  // of each projection, where there is more to say; empty: nothing
  std::vector<double> shift;            ///< columns that it is moved to the right first
  std::vector<double> weight;           ///< what it counts beside the others
  std::vector<std::uint32_t> flat_set;  ///< which of the flats' sets is its own
  std::vector<double> filter;           ///< weights of a filter, of all projections or of each
  std::size_t filter_sets = 1;          ///< of as many weights each: 1 or one a projection
  std::size_t flat_sets = 1;            ///< of as many frames each, one after the other
  AngleSource source = AngleSource::kTheta;
  bool counts = false;  ///< 16-bit counts: read as they are, without a conversion
  std::string type;     ///< "uint16", "float32" ..., for messages
  std::string name_kinds, numbers_left_out;  ///< of images, as image_names.hpp tells them
  double flat_value = 0, dark_value = 0;     ///< in place of frames, where the file gives numbers
  bool has_flat_value = false, has_dark_value = false;
};

/// Where the axis is taken to be that nobody has told.
[[nodiscard]] double middle_of_row(const ScanLayout& layout) noexcept;

/// The angles, as they are computed with.
[[nodiscard]] std::vector<double> radians(const ScanLayout& layout);

/// Frames of one kind, rows [first, first + rows) of each: [frame][row][column].
struct FrameBlock {
  std::size_t frames = 0, rows = 0, columns = 0;
  LargeVector<std::uint16_t> counts;  ///< of a layout with counts
  LargeVector<float> floats;          ///< of any other
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

  /// Most that reading takes beside what it fills.
  [[nodiscard]] virtual std::uint64_t buffer_bytes() const noexcept { return 0; }

  /// Projections that there will be, as far as the scan says: those of give_...().
  [[nodiscard]] std::size_t projections() const noexcept {
    return layout_.expected > layout_.angles ? layout_.expected : layout_.angles;
  }
  /// Whether there may be more than it says.
  [[nodiscard]] virtual bool grows() const noexcept { return false; }

  /// From elsewhere, one a projection, those that are to come included. Throw kScanMismatch where
  /// they are not.
  void give_angles(std::vector<double> theta_deg);
  void give_shifts(std::vector<double> columns);
  void give_weights(std::vector<double> weights);
  /// Of a filter, one set for all projections or one for each.
  void give_filter(std::vector<double> weights, bool each);
  /// The axis' column, one a row. Throws kScanMismatch where they are not.
  void give_axis(std::vector<double> columns);
  /// The projections before which the sets of flats were taken, rising: each projection has the
  /// nearest as its own. Throws kScanMismatch where the flats are not as many sets; of a scan that
  /// grows they stay one set until they are.
  void give_flat_places(const std::vector<std::size_t>& places);
  /// From now on there are no darks: the beam closed counts 0.
  void leave_darks() noexcept;

 protected:
  FrameSource() = default;
  FrameSource(const FrameSource&) = default;
  FrameSource& operator=(const FrameSource&) = default;
  /// Throws kScanMismatch.
  void check_count(const char* option, const char* what, std::size_t found) const;
  /// What is given, for the projections that are there.
  [[nodiscard]] std::vector<double> of_those_there(std::vector<double> all);
  /// 0 to 180 degrees, both included, as the peers assume.
  void assume_angles();
  ScanLayout layout_;
};

/// Size and time of a file, as text.
[[nodiscard]] std::string file_stamp(const std::string& path);
/// A number, as text, that changes with names, sizes and times of files and with their order.
[[nodiscard]] std::string stamp_of_files(std::span<const std::string> paths);

/// "720 x 1024 x 1024"
[[nodiscard]] std::string sizes_of(const std::vector<std::size_t>& shape);

}  // namespace tomoloom
