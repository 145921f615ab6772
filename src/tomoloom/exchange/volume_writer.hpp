// SPDX-License-Identifier: BSD-3-Clause
// Volumes as HDF5, one slice a chunk; the file appears when it is whole.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "loom/hdf5/hdf5.hpp"
#include "tomoloom/foundation.hpp"

namespace tomoloom {

/// A line of what was done, below /process/tomoloom.
struct VolumeNote {
  std::string name, value;
};

class VolumeWriter {
 public:
  /// Throws kOutputExists, kUnwritable, kDiskFull; the other members too.
  VolumeWriter(const std::string& path, Overwrite overwrite, std::size_t slices, std::size_t width,
               std::size_t first_row, std::span<const VolumeNote> notes);
  /// Slices from `first` on, [slice][row][column].
  void write(std::size_t first, std::span<const float> slices);
  void commit();

 private:
  hdf5::Writer writer_;
};

}  // namespace tomoloom
