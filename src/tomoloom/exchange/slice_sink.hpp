// SPDX-License-Identifier: BSD-3-Clause
// Where slices go, whatever files they become: a volume that appears when it is whole.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "tomoloom/foundation.hpp"

namespace tomoloom {

/// A line of what was done, below /process/tomoloom or in the description of an image.
struct VolumeNote {
  std::string name, value;
};

struct VolumeShape {
  std::size_t slices = 0, width = 0;
  std::size_t first_row = 0;  ///< of the projections, that slice 0 is of
  std::size_t row_step = 1;   ///< from that to the next slice's

  [[nodiscard]] std::size_t row(std::size_t slice) const noexcept {
    return first_row + slice * row_step;
  }
};

class SliceSink {
 public:
  virtual ~SliceSink() = default;
  /// Slices that an earlier run has left.
  [[nodiscard]] virtual std::size_t slices_done() const = 0;
  [[nodiscard]] virtual bool done(std::size_t first, std::size_t count) const = 0;
  /// Slices from `first` on, [slice][row][column]. Throws kUnwritable, kDiskFull; commit() too.
  virtual void write(std::size_t first, std::span<const float> slices) = 0;
  virtual void commit() = 0;
  /// Removes what would stay.
  virtual void discard() = 0;

 protected:
  SliceSink() = default;
  SliceSink(const SliceSink&) = default;
  SliceSink& operator=(const SliceSink&) = default;
};

}  // namespace tomoloom
