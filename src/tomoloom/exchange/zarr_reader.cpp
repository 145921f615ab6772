// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/exchange/zarr_reader.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/files/gzip.hpp"
#include "loom/files/input_file.hpp"

namespace tomoloom {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "numbers are taken as they lie");

constexpr std::size_t kMostText = std::size_t{1} << 20;
/// Pixels of a slice, voxels of a chunk, and of a layer of packed ones.
constexpr std::size_t kMostOfASlice = std::size_t{1} << 28, kMostOfALayer = std::size_t{1} << 30;

/// The array that the attributes name first, or "0".
std::string first_array(const std::string& folder) {
  const std::string path = folder + "/.zattrs";
  if (!fs::is_regular_file(path)) return "0";
  try {
    const Json attributes = read_zarr_json(path);
    const Json* const scales = attributes.find("multiscales");
    if (scales == nullptr) return "0";
    return scales->elements().at(0).at("datasets").elements().at(0).at("path").get<std::string>();
  } catch (const std::out_of_range&) {
    throw Error(Status::kCorrupt, path + ": multiscales name no array");
  } catch (const JsonError& error) {
    throw Error(Status::kCorrupt, path + ": is no OME-Zarr: " + error.what());
  }
}

float fill_of(const Json& array) {
  const Json* const fill = array.find("fill_value");
  if (fill == nullptr || fill->is_null()) return 0;
  if (!fill->is_string()) return fill->get<float>();
  const auto text = fill->get<std::string>();
  const float infinity = std::numeric_limits<float>::infinity();
  return text == "Infinity" ? infinity : text == "-Infinity" ? -infinity : NAN;
}

}  // namespace

bool is_zarr(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path + "/.zgroup", ignored) ||
         fs::is_regular_file(path + "/.zattrs", ignored);
}

Json read_zarr_json(const std::string& path) {
  auto json = Json::parse(read_text(path, kMostText));
  if (!json) throw Error(Status::kCorrupt, path + ": is no JSON");
  return *std::move(json);
}

ZarrReader::ZarrReader(const std::string& folder) {
  const std::string array = first_array(folder);
  const fs::path place(array);
  const bool outside =
      place.is_absolute() || std::find(place.begin(), place.end(), "..") != place.end();
  if (array.empty() || outside) {
    throw Error(Status::kCorrupt, folder + "/.zattrs: the array's path leads out of the folder");
  }
  folder_ = folder + "/" + array;
  layout_.path = folder;
  layout_.data = array;
  const std::string file = folder_ + "/.zarray";
  try {
    parse(file);
  } catch (const JsonError& error) {
    throw Error(Status::kCorrupt, file + ": is no array of Zarr 2: " + error.what());
  }
}

void ZarrReader::parse(const std::string& file) {
  const Json array = read_zarr_json(file);
  const auto unsupported = [&](const std::string& what) {
    throw Error(Status::kUnsupported, file + ": " + what);
  };
  if (array.at("zarr_format").get<std::int64_t>() != 2) unsupported("expected zarr_format 2");
  auto shape = array.at("shape").get<std::vector<std::size_t>>();
  chunk_ = array.at("chunks").get<std::vector<std::size_t>>();
  const std::size_t more = std::max<std::size_t>(shape.size(), 3) - 3;
  const bool alone = std::all_of(shape.begin(), shape.begin() + static_cast<long>(more),
                                 [](std::size_t n) { return n == 1; });
  if (shape.size() < 3 || chunk_.size() != shape.size() || !alone) {
    throw Error(Status::kWrongShape,
                print("%s: %s: expected slices, rows and columns, and what stands before them of "
                      "length 1",
                      file.c_str(), sizes_of(shape).c_str()));
  }
  shape.erase(shape.begin(), shape.begin() + static_cast<long>(more));
  chunk_.erase(chunk_.begin(), chunk_.begin() + static_cast<long>(more));
  const auto fits = [](std::size_t n) { return n > 0 && n <= kMostOfAnAxis; };
  if (!std::all_of(shape.begin(), shape.end(), fits) ||
      !std::all_of(chunk_.begin(), chunk_.end(), fits)) {
    throw Error(Status::kWrongShape,
                print("%s: %s in chunks of %s: expected 1 to %zu along an axis", file.c_str(),
                      sizes_of(shape).c_str(), sizes_of(chunk_).c_str(), kMostOfAnAxis));
  }
  parse_kind(array, file);
  separator_ = array.value<std::string>("dimension_separator", ".");
  if (separator_ != "." && separator_ != "/") unsupported("expected the separator . or /");
  for (std::size_t i = 0; i < more; ++i) leading_ += "0" + separator_;
  fill_ = fill_of(array);
  if (shape[1] * shape[2] > kMostOfASlice || chunk_[1] * chunk_[2] > kMostOfASlice / chunk_[0] ||
      (packed_ && shape[1] * shape[2] > kMostOfALayer / chunk_[0])) {
    unsupported(print("%s in chunks of %s: slices or chunks are too large", sizes_of(shape).c_str(),
                      sizes_of(chunk_).c_str()));
  }
  layout_.angles = layout_.expected = shape[0];
  layout_.rows = shape[1];
  layout_.columns = shape[2];
}

/// What the numbers are and how chunks are packed.
void ZarrReader::parse_kind(const Json& array, const std::string& file) {
  const auto unsupported = [&](const std::string& what) {
    throw Error(Status::kUnsupported, file + ": " + what);
  };
  const auto type = array.at("dtype").get<std::string>();
  if (type == "<f4") {
    number_ = Number::kFloat32;
  } else if (type == "<f8") {
    number_ = Number::kFloat64;
  } else if (type == "<u2") {
    number_ = Number::kUint16;
  } else if (type == "|u1") {
    number_ = Number::kUint8;
  } else {
    unsupported("numbers are " + type + ": expected <f4, <f8, <u2 or |u1");
  }
  layout_.type = type;
  const Json* const filters = array.find("filters");
  if (array.value<std::string>("order", "C") != "C" ||
      (filters && !filters->is_null() && filters->size() > 0)) {
    unsupported("expected order C and no filters");
  }
  const Json* const compressor = array.find("compressor");
  packed_ = compressor != nullptr && !compressor->is_null();
  if (packed_ && compressor->at("id").get<std::string>() != "zlib") {
    unsupported("chunks are packed by " + compressor->at("id").get<std::string>() +
                ": expected zlib, or none");
  }
}

std::size_t ZarrReader::number_bytes() const noexcept {
  switch (number_) {
    case Number::kFloat32:
      return sizeof(float);
    case Number::kFloat64:
      return sizeof(double);
    case Number::kUint16:
      return sizeof(std::uint16_t);
    case Number::kUint8:
      break;
  }
  return 1;
}

std::string ZarrReader::chunk_path(std::size_t layer, std::size_t y, std::size_t x) const {
  return print("%s/%s%zu%s%zu%s%zu", folder_.c_str(), leading_.c_str(), layer, separator_.c_str(),
               y, separator_.c_str(), x);
}

void ZarrReader::to_floats(const std::uint8_t* bytes, std::vector<float>& out) const {
  const auto convert = [&](auto number) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      std::memcpy(&number, bytes + i * sizeof(number), sizeof(number));
      out[i] = static_cast<float>(number);
    }
  };
  switch (number_) {
    case Number::kFloat32:
      return convert(float{});
    case Number::kFloat64:
      return convert(double{});
    case Number::kUint16:
      return convert(std::uint16_t{});
    case Number::kUint8:
      return convert(std::uint8_t{});
  }
}

void ZarrReader::read_chunk(std::size_t layer, std::size_t y, std::size_t x, std::size_t from,
                            std::size_t count, std::vector<float>& out) const {
  const std::string path = chunk_path(layer, y, x);
  const std::size_t slice = chunk_[1] * chunk_[2], whole = chunk_[0] * slice * number_bytes();
  out.resize(count * slice);
  if (!fs::exists(path)) return std::fill(out.begin(), out.end(), fill_);
  const InputFile file(path);
  const std::size_t part = count * slice * number_bytes();
  if (packed_) {
    if (file.size() > 2 * whole + kMostText) {
      throw Error(Status::kCorrupt, path + ": is longer than what it could hold");
    }
    packed_bytes_.resize(file.size());
    packed_bytes_.resize(file.read(0, packed_bytes_));
    bytes_.resize(whole);
    unzlib(packed_bytes_, bytes_, path);
    return to_floats(bytes_.data() + from * slice * number_bytes(), out);
  }
  bytes_.resize(part);
  if (file.size() != whole || file.read(from * slice * number_bytes(), std::span(bytes_)) != part) {
    throw Error(Status::kCorrupt, print("%s: %llu bytes, expected %zu", path.c_str(),
                                        static_cast<unsigned long long>(file.size()), whole));
  }
  to_floats(bytes_.data(), out);
}

void ZarrReader::gather(std::size_t layer, std::size_t from, std::size_t count, float* out) const {
  const std::size_t height = layout_.rows, width = layout_.columns;
  for (std::size_t y = 0; y < height; y += chunk_[1]) {
    for (std::size_t x = 0; x < width; x += chunk_[2]) {
      read_chunk(layer, y / chunk_[1], x / chunk_[2], from, count, voxels_);
      const std::size_t rows = std::min(chunk_[1], height - y);
      const std::size_t columns = std::min(chunk_[2], width - x);
      for (std::size_t i = 0; i < count * rows; ++i) {
        const std::size_t s = i / rows, r = i % rows;
        std::copy_n(voxels_.data() + (s * chunk_[1] + r) * chunk_[2], columns,
                    out + (s * height + y + r) * width + x);
      }
    }
  }
}

void ZarrReader::read_layer(std::size_t layer) const {
  if (kept_ == layer + 1) return;
  kept_ = 0;  // where reading throws, nothing is kept
  layer_.resize(chunk_[0] * layout_.rows * layout_.columns);
  gather(layer, 0, chunk_[0], layer_.data());
  kept_ = layer + 1;
}

void ZarrReader::frames(const std::string& /*name*/, std::size_t frame, std::size_t frames,
                        std::size_t first, std::size_t rows, FrameBlock& out) const {
  const std::size_t pixels = layout_.rows * layout_.columns, part = rows * layout_.columns;
  out.frames = frames;
  out.rows = rows;
  out.columns = layout_.columns;
  out.counts.clear();
  out.floats.resize(frames * part);
  for (std::size_t f = 0; f < frames; ++f) {
    const std::size_t layer = (frame + f) / chunk_[0], within = (frame + f) % chunk_[0];
    const float* slice = nullptr;
    if (packed_) {
      read_layer(layer);
      slice = layer_.data() + within * pixels;
    } else {
      slice_.resize(pixels);
      gather(layer, within, 1, slice_.data());
      slice = slice_.data();
    }
    std::copy_n(slice + first * layout_.columns, part, out.floats.data() + f * part);
  }
}

std::vector<std::size_t> ZarrReader::chunk(const std::string& /*name*/) const { return chunk_; }

std::string ZarrReader::identity() const { return file_stamp(folder_ + "/.zarray"); }

std::uint64_t ZarrReader::buffer_bytes() const noexcept {
  const std::size_t deep = packed_ ? chunk_[0] : 1;
  return (deep * layout_.rows * layout_.columns + chunk_[0] * chunk_[1] * chunk_[2] * 3) *
         sizeof(float);
}

}  // namespace tomoloom
