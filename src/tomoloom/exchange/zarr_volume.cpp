// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/exchange/zarr_volume.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/files/gzip.hpp"
#include "loom/files/input_file.hpp"
#include "loom/json/json.hpp"
#include "tomoloom/exchange/zarr_reader.hpp"

namespace tomoloom {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "chunks are written as they lie");

/// A level of the pyramid.
struct Level {
  std::size_t slices = 0, width = 0;  ///< voxels
  std::size_t depth = 0;              ///< slices of a chunk

  [[nodiscard]] std::size_t across() const {
    return (width + ZarrVolume::kChunkWide - 1) / ZarrVolume::kChunkWide;
  }
  [[nodiscard]] std::size_t blocks() const { return (slices + depth - 1) / depth; }
};

/// The volume, then halves of the one before while a slice is more than a chunk.
std::vector<Level> levels_of(const VolumeShape& shape, std::size_t depth) {
  std::vector<Level> levels{{shape.slices, shape.width, depth}};
  while (levels.back().width > ZarrVolume::kChunkWide && levels.back().depth > 1) {
    const Level& last = levels.back();
    levels.push_back({(last.slices + 1) / 2, (last.width + 1) / 2, last.depth / 2});
  }
  return levels;
}

bool is_number(const std::string& name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

/// .zgroup, .zattrs, LEVEL/.zarray, LEVEL/BLOCK/ROW/COLUMN and the folders above.
bool is_ours(const fs::path& path, bool is_folder) {
  std::vector<std::string> parts;
  for (const fs::path& part : path) parts.push_back(part.string());
  if (parts.size() > 4) return false;
  const std::string& last = parts.back();
  if (!std::all_of(parts.begin(), parts.end() - 1, is_number)) return false;
  if (is_folder) return parts.size() < 4 && is_number(last);
  if (parts.size() == 1) return last == ".zgroup" || last == ".zattrs";
  return parts.size() == 2 ? last == ".zarray" : parts.size() == 4 && is_number(last);
}

std::string chunk_name(std::size_t level, std::size_t block, std::size_t row, std::size_t column) {
  return print("%zu/%zu/%zu/%zu", level, block, row, column);
}

std::string array_name(std::size_t level) { return print("%zu/.zarray", level); }

Json array_text(const Level& level, int packed) {
  constexpr std::size_t wide = ZarrVolume::kChunkWide;
  Json compressor;  // null: none
  if (packed > 0) compressor = {{"id", "zlib"}, {"level", packed}};
  return {{"zarr_format", 2},
          {"shape", Json::array({level.slices, level.width, level.width})},
          {"chunks", Json::array({level.depth, wide, wide})},
          {"dtype", "<f4"},
          {"compressor", compressor},
          {"fill_value", 0.0},
          {"order", "C"},
          {"filters", Json()},
          {"dimension_separator", "/"}};
}

/// Where a level's voxels are: their size in pixels of the detector, and where the middle of the
/// first one is, along slices counted from the scan's first row.
Json transformations(const VolumeShape& shape, std::size_t level) {
  const auto size = static_cast<double>(shape.row_step << level);
  const double middle = (size - 1) / 2;
  const double first = static_cast<double>(shape.first_row) + middle;
  return Json::array(
      {Json{{"type", "scale"}, {"scale", Json::array({size, size, size})}},
       Json{{"type", "translation"}, {"translation", Json::array({first, middle, middle})}}});
}

Json axis_text(const char* name) { return {{"name", name}, {"type", "space"}}; }

/// Means of boxes of two voxels along each axis, of those that there are.
std::vector<float> halved(std::span<const float> from, std::size_t slices, std::size_t width) {
  const std::size_t depth = (slices + 1) / 2, wide = (width + 1) / 2;
  std::vector<float> out(depth * wide * wide);
  for (std::size_t z = 0; z < depth; ++z) {
    for (std::size_t y = 0; y < wide; ++y) {
      for (std::size_t x = 0; x < wide; ++x) {
        double sum = 0, count = 0;
        for (std::size_t i = 2 * z; i < std::min(slices, 2 * z + 2); ++i) {
          for (std::size_t j = 2 * y; j < std::min(width, 2 * y + 2); ++j) {
            for (std::size_t k = 2 * x; k < std::min(width, 2 * x + 2); ++k) {
              sum += static_cast<double>(from[(i * width + j) * width + k]);
              ++count;
            }
          }
        }
        out[(z * wide + y) * wide + x] = static_cast<float>(sum / count);
      }
    }
  }
  return out;
}

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

ZarrVolume::ZarrVolume(const std::string& folder, Overwrite overwrite, const VolumeShape& shape,
                       std::span<const VolumeNote> notes, const Chunks& chunks,
                       const std::optional<std::string>& making)
    : folder_(folder, overwrite, {"a Zarr volume", is_ours}, making),
      shape_(shape),
      chunks_(chunks),
      notes_(notes.begin(), notes.end()) {}

/// Chunks are whole in Zarr: beyond the volume's ends they hold 0.
void ZarrVolume::write_level(std::size_t level, std::size_t block, std::span<const float> voxels) {
  const Level own = levels_of(shape_, chunks_.slices_per_block)[level];
  const std::size_t slice = own.width * own.width, slices = voxels.size() / slice;
  std::vector<float> chunk(own.depth * kChunkWide * kChunkWide);
  for (std::size_t row = 0; row < own.across(); ++row) {
    for (std::size_t column = 0; column < own.across(); ++column) {
      const std::size_t y = row * kChunkWide, x = column * kChunkWide;
      const std::size_t rows = std::min(kChunkWide, own.width - y);
      const std::size_t columns = std::min(kChunkWide, own.width - x);
      std::fill(chunk.begin(), chunk.end(), 0.0F);
      for (std::size_t s = 0; s < slices; ++s) {
        for (std::size_t r = 0; r < rows; ++r) {
          std::copy_n(voxels.data() + s * slice + (y + r) * own.width + x, columns,
                      chunk.data() + (s * kChunkWide + r) * kChunkWide);
        }
      }
      const std::span<const std::uint8_t> plain(reinterpret_cast<const std::uint8_t*>(chunk.data()),
                                                chunk.size() * sizeof(float));
      const std::string name = chunk_name(level, block, row, column);
      if (chunks_.level > 0) {
        folder_.put(name, {zlib(plain, chunks_.level)});
      } else {
        folder_.put(name, {plain});
      }
    }
  }
}

void ZarrVolume::write(std::size_t first, std::span<const float> slices) {
  const std::size_t depth = chunks_.slices_per_block;
  const std::size_t count = slices.size() / (shape_.width * shape_.width);
  if (first % depth != 0 || (count != depth && first + count != shape_.slices)) {
    throw Error(Status::kInternal, "slices that are no whole chunks");
  }
  const std::vector<Level> levels = levels_of(shape_, depth);
  write_level(0, first / depth, slices);
  std::vector<float> smaller;
  std::size_t left = count;
  for (std::size_t level = 1; level < levels.size(); ++level) {
    smaller = halved(level == 1 ? slices : smaller, left, levels[level - 1].width);
    left = (left + 1) / 2;
    write_level(level, first / depth, smaller);
  }
  folder_.wrote(first, count);
}

/// What makes a folder a volume to others comes last.
void ZarrVolume::commit() {
  const std::vector<Level> levels = levels_of(shape_, chunks_.slices_per_block);
  Json datasets = Json::array();
  for (std::size_t level = 0; level < levels.size(); ++level) {
    folder_.put(array_name(level), {bytes_of(array_text(levels[level], chunks_.level).dump(2))});
    datasets.push_back({{"path", std::to_string(level)},
                        {"coordinateTransformations", transformations(shape_, level)}});
  }
  Json attributes = Json::object();
  Json whole = Json::object();
  whole["version"] = "0.4";
  whole["name"] = "volume";
  whole["axes"] = Json::array({axis_text("z"), axis_text("y"), axis_text("x")});
  whole["datasets"] = datasets;
  whole["type"] = "mean";
  attributes["multiscales"] = Json::array({whole});
  for (const VolumeNote& note : notes_) attributes["tomoloom"][note.name] = note.value;
  folder_.put(".zattrs", {bytes_of(attributes.dump(2))});
  folder_.put(".zgroup", {bytes_of(Json{{"zarr_format", 2}}.dump(2))});
  folder_.commit();
}

std::vector<std::string> ZarrVolume::files(const VolumeShape& shape, const Chunks& chunks) {
  std::vector<std::string> files{".zgroup", ".zattrs"};
  const std::vector<Level> levels = levels_of(shape, chunks.slices_per_block);
  for (std::size_t level = 0; level < levels.size(); ++level) {
    files.push_back(array_name(level));
    const std::size_t across = levels[level].across();
    for (std::size_t i = 0; i < levels[level].blocks() * across * across; ++i) {
      files.push_back(chunk_name(level, i / (across * across), i / across % across, i % across));
    }
  }
  return files;
}

std::vector<VolumeNote> ZarrVolume::describe(const std::string& folder) {
  const std::string attributes = folder + "/.zattrs";
  if (!fs::is_regular_file(attributes)) return {};
  const Json all = read_zarr_json(attributes);
  try {
    std::vector<VolumeNote> notes;
    if (const Json* scales = all.find("multiscales")) {
      notes.push_back({"levels", print("%zu", scales->elements().at(0).at("datasets").size())});
    }
    if (const Json* own = all.find("tomoloom")) {
      for (const auto& [name, value] : own->members()) {
        notes.push_back({name, value.get<std::string>()});
      }
    }
    return notes;
  } catch (const std::exception& error) {
    throw Error(Status::kCorrupt, attributes + ": is no OME-Zarr volume: " + error.what());
  }
}

}  // namespace tomoloom
