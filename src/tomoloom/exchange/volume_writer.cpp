// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/exchange/volume_writer.hpp"

#include <filesystem>

#include "loom/base/error.hpp"

namespace tomoloom {

VolumeWriter::VolumeWriter(const std::string& path, Overwrite overwrite, const VolumeShape& shape,
                           std::span<const VolumeNote> notes,
                           const std::optional<std::string>& making)
    : slice_(shape.width * shape.width) {
  hdf5::require_available(path);
  if (making) prepare_part(path, *making);
  open(path, overwrite);
  if (writer_->continues()) return;
  try {
    make_sets(shape, notes);
    if (!record_) return;
    writer_->sync();
    record_->start();
  } catch (...) {  // nothing is in it yet that one could go on from
    writer_.reset();
    std::error_code ignored;
    if (record_) std::filesystem::remove(part_, ignored);
    throw;
  }
}

void VolumeWriter::open(const std::string& path, Overwrite overwrite) {
  const auto stays = record_ ? hdf5::Unfinished::kStays : hdf5::Unfinished::kVanishes;
  std::error_code ignored;
  const bool is_new = record_ && !std::filesystem::exists(part_, ignored);
  try {
    writer_.emplace(path, overwrite, stays);
  } catch (const Error&) {  // a disk that is full leaves the beginning of a file, or an empty one
    if (is_new && !hdf5::is_being_written(part_)) std::filesystem::remove(part_, ignored);
    throw;
  }
}

/// What an earlier run of another making has left goes; that of the same making must be readable.
void VolumeWriter::prepare_part(const std::string& path, const std::string& making) {
  part_ = hdf5::part_name(path);
  record_.emplace(part_ + ".done", making);
  if (!std::filesystem::exists(part_)) return;
  if (hdf5::is_being_written(part_)) {
    throw Error(Status::kUnwritable, part_ + ": another run is writing it");
  }
  if (!record_->continues()) {
    std::filesystem::remove(part_);
    return;
  }
  try {
    const hdf5::Reader reader(part_);
  } catch (const Error&) {
    throw Error(Status::kUnwritable,
                part_ + ": an unfinished volume that cannot be read: remove it");
  }
}

void VolumeWriter::make_sets(const VolumeShape& shape, std::span<const VolumeNote> notes) {
  const std::size_t n = shape.slices, width = shape.width;
  writer_->text("implements", "exchange:process");
  writer_->create("exchange/data", hdf5::Type::kFloat32, {n, width, width}, {1, width, width},
                  hdf5::Room::kAtOnce);
  writer_->describe("exchange/data", "axes", "z:y:x");
  writer_->describe("exchange/data", "units", "1/pixel");
  writer_->create("exchange/row", hdf5::Type::kInt64, {n});  // of the projections
  std::vector<std::int64_t> rows(n);
  for (std::size_t i = 0; i < n; ++i) rows[i] = static_cast<std::int64_t>(shape.row(i));
  writer_->write("exchange/row", 0, std::span<const std::int64_t>(rows));
  for (const VolumeNote& note : notes) writer_->text("process/tomoloom/" + note.name, note.value);
}

std::size_t VolumeWriter::slices_done() const {
  return writer_->continues() && record_ ? record_->slices_done() : 0;
}

bool VolumeWriter::done(std::size_t first, std::size_t count) const {
  return writer_->continues() && record_ && record_->done(first, count);
}

void VolumeWriter::write(std::size_t first, std::span<const float> slices) {
  writer_->write("exchange/data", first, slices);
  if (!record_) return;
  writer_->sync();
  record_->add(first, slices.size() / slice_);
}

void VolumeWriter::commit() {
  writer_->commit();
  if (record_) record_->remove();
}

void VolumeWriter::discard() {
  if (!record_) return;
  std::error_code ignored;
  std::filesystem::remove(part_, ignored);
  record_->remove();
}

}  // namespace tomoloom
