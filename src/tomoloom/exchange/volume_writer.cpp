// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/exchange/volume_writer.hpp"

namespace tomoloom {

VolumeWriter::VolumeWriter(const std::string& path, Overwrite overwrite, std::size_t slices,
                           std::size_t width, std::size_t first_row,
                           std::span<const VolumeNote> notes)
    : writer_(path, overwrite) {
  writer_.text("implements", "exchange:process");
  writer_.create("exchange/data", hdf5::Type::kFloat32, {slices, width, width}, {1, width, width});
  writer_.describe("exchange/data", "axes", "z:y:x");
  writer_.describe("exchange/data", "units", "1/pixel");
  writer_.create("exchange/row", hdf5::Type::kInt64, {slices});  // of the projections
  std::vector<std::int64_t> rows(slices);
  for (std::size_t i = 0; i < slices; ++i) rows[i] = static_cast<std::int64_t>(first_row + i);
  writer_.write("exchange/row", 0, std::span<const std::int64_t>(rows));
  for (const VolumeNote& note : notes) writer_.text("process/tomoloom/" + note.name, note.value);
}

void VolumeWriter::write(std::size_t first, std::span<const float> slices) {
  writer_.write("exchange/data", first, slices);
}

void VolumeWriter::commit() { writer_.commit(); }

}  // namespace tomoloom
