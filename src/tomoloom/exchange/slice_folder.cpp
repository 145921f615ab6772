// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/exchange/slice_folder.hpp"

#include <filesystem>
#include <string_view>

#include "loom/base/print.hpp"
#include "loom/tiff/tiff.hpp"

namespace tomoloom {
namespace {

constexpr std::string_view kBefore = "slice_", kEnd = ".tiff";

bool is_slice(const std::filesystem::path& path, bool is_folder) {
  const std::string name = path.string();
  if (is_folder || !name.starts_with(kBefore) || !name.ends_with(kEnd) ||
      name.size() <= kBefore.size() + kEnd.size()) {
    return false;
  }
  const auto digits = name.substr(kBefore.size(), name.size() - kBefore.size() - kEnd.size());
  return digits.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

std::string SliceFolder::file_name(std::size_t row) {
  return std::string(kBefore) + print("%05zu", row) + std::string(kEnd);
}

SliceFolder::SliceFolder(const std::string& folder, Overwrite overwrite, const VolumeShape& shape,
                         std::span<const VolumeNote> notes,
                         const std::optional<std::string>& making)
    : folder_(folder, overwrite, {"slices", is_slice}, making), shape_(shape) {
  std::string text;
  for (const VolumeNote& note : notes) text += note.name + "=" + note.value + "\n";
  header_ = tiff::page_header(shape.width, shape.width, text);
}

void SliceFolder::write(std::size_t first, std::span<const float> slices) {
  const std::size_t slice = shape_.width * shape_.width, count = slices.size() / slice;
  for (std::size_t i = 0; i < count; ++i) {
    const std::span<const float> own = slices.subspan(i * slice, slice);
    folder_.put(file_name(shape_.row(first + i)),
                {header_, {reinterpret_cast<const std::uint8_t*>(own.data()), own.size_bytes()}});
  }
  folder_.wrote(first, count);
}

}  // namespace tomoloom
