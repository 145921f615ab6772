// SPDX-License-Identifier: BSD-3-Clause
// Volumes as HDF5, one slice a chunk; the file appears when it is whole.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loom/hdf5/hdf5.hpp"
#include "tomoloom/exchange/block_record.hpp"
#include "tomoloom/foundation.hpp"

namespace tomoloom {

/// A line of what was done, below /process/tomoloom.
struct VolumeNote {
  std::string name, value;
};

struct VolumeShape {
  std::size_t slices = 0, width = 0;
  std::size_t first_row = 0;  ///< of the projections, that slice 0 is of
};

class VolumeWriter {
 public:
  /// With `making`, one line that says what is being made, the volume lies at PATH.part until it is
  /// whole, with a record beside it: a run that was interrupted is gone on with by one of the same
  /// making. The bytes of the whole volume are the same. Throws kOutputExists, kUnwritable,
  /// kDiskFull; the other members too.
  VolumeWriter(const std::string& path, Overwrite overwrite, const VolumeShape& shape,
               std::span<const VolumeNote> notes, const std::optional<std::string>& making = {});

  /// Slices that an earlier run has left.
  [[nodiscard]] std::size_t slices_done() const;
  [[nodiscard]] bool done(std::size_t first, std::size_t count) const;
  /// Slices from `first` on, [slice][row][column].
  void write(std::size_t first, std::span<const float> slices);
  void commit();
  /// Removes what would stay.
  void discard();

 private:
  void prepare_part(const std::string& path, const std::string& making);
  void make_sets(const VolumeShape& shape, std::span<const VolumeNote> notes);

  std::string part_;
  std::size_t slice_;  ///< numbers in one
  std::optional<BlockRecord> record_;
  std::optional<hdf5::Writer> writer_;
};

}  // namespace tomoloom
