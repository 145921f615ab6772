// SPDX-License-Identifier: BSD-3-Clause
// Volumes as HDF5, one slice a chunk; the file appears when it is whole.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loom/hdf5/hdf5.hpp"
#include "tomoloom/exchange/block_record.hpp"
#include "tomoloom/exchange/slice_sink.hpp"
#include "tomoloom/foundation.hpp"

namespace tomoloom {

class VolumeWriter final : public SliceSink {
 public:
  /// With `making`, one line that says what is being made, the volume lies at PATH.part until it is
  /// whole, with a record beside it: a run that was interrupted is gone on with by one of the same
  /// making. The bytes of the whole volume are the same. Throws kOutputExists, kUnwritable,
  /// kDiskFull; the other members too.
  VolumeWriter(const std::string& path, Overwrite overwrite, const VolumeShape& shape,
               std::span<const VolumeNote> notes, const std::optional<std::string>& making = {});

  [[nodiscard]] std::size_t slices_done() const override;
  [[nodiscard]] bool done(std::size_t first, std::size_t count) const override;
  void write(std::size_t first, std::span<const float> slices) override;
  void commit() override;
  void discard() override;

 private:
  void prepare_part(const std::string& path, const std::string& making);
  void open(const std::string& path, Overwrite overwrite);
  void make_sets(const VolumeShape& shape, std::span<const VolumeNote> notes);

  std::string part_;
  std::size_t slice_;  ///< numbers in one
  std::optional<BlockRecord> record_;
  std::optional<hdf5::Writer> writer_;
};

}  // namespace tomoloom
