// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/exchange/image_stack.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/files/output_files.hpp"
#include "loom/tiff/tiff.hpp"
#include "tomoloom/exchange/image_names.hpp"
#include "tomoloom/status.hpp"

namespace tomoloom {
namespace {

namespace fs = std::filesystem;

constexpr const char* kData = "projections";
constexpr const char* kFlats = "flats";
constexpr const char* kDarks = "darks";

bool is_image(const fs::path& path) {
  const std::string name = path.filename().string();
  return has_ending(name, ".tif") || has_ending(name, ".tiff");
}

/// Of a folder. What begins with a dot is hidden: macOS keeps what it knows of p.tif in ._p.tif.
bool is_image_of_folder(const fs::path& path) {
  return is_image(path) && path.filename().native().front() != '.';
}

}  // namespace

bool is_stack(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) || is_image(path);
}

bool holds_images(const std::string& folder) {
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    if (is_image_of_folder(at->path())) return true;
  }
  return false;
}

std::vector<std::string> stack_files(const std::string& path) {
  std::error_code failed;
  if (!fs::is_directory(path, failed)) return {path};
  std::vector<std::string> names;
  for (fs::directory_iterator at(path, failed), end; !failed && at != end; at.increment(failed)) {
    if (is_image_of_folder(at->path())) names.push_back(at->path().filename().string());
  }
  if (failed) throw Error(Status::kNotFound, path + ": cannot be read: " + failed.message());
  if (names.empty()) {
    throw Error(Status::kNotFound, path + ": no images: expected files named *.tif or *.tiff");
  }
  std::sort(names.begin(), names.end(), in_order);
  for (std::string& name : names) name = (fs::path(path) / name).string();
  return names;
}

ImageStack::ImageStack(const std::string& path) {
  std::vector<std::string> names;
  for (const std::string& file : stack_files(path)) {
    add(file);
    names.push_back(fs::path(file).filename().string());
  }
  name_kinds_ = kinds_of_names(names);
  if (names.size() == images_.size()) numbers_left_out_ = tomoloom::numbers_left_out(names);
}

void ImageStack::add(const std::string& path) {
  const tiff::Reader reader(path);
  for (std::size_t i = 0; i < reader.pages(); ++i) {
    const tiff::Page& page = reader.page(i);
    const std::string type = tiff::name_of(page.number);
    if (images_.empty()) {
      height_ = page.height;
      width_ = page.width;
      type_ = type;
      counts_ = page.number == tiff::Number::kUint8 || page.number == tiff::Number::kUint16;
    } else if (page.height != height_ || page.width != width_ || type != type_) {
      throw Error(Status::kWrongShape,
                  print("%s: found %zu x %zu numbers of %s, expected %zu x %zu of %s as in %s",
                        path.c_str(), page.height, page.width, type.c_str(), height_, width_,
                        type_.c_str(), images_[0].path.c_str()));
    }
    packed_ = packed_ || page.packing != tiff::Packing::kNone;
    images_.push_back({path, i});
    if (images_.size() > kMostOfAnAxis) {
      throw Error(Status::kWrongShape, path + ": too many images");
    }
  }
}

StackReader::StackReader(const StackFiles& files) {
  layout_.path = files.data;
  layout_.data = kData;
  sets_.push_back({kData, ImageStack(files.data), files.kind});
  const ImageStack& data = sets_[0].stack;
  const bool frames = files.kind == StackKind::kProjections;
  layout_.angles = frames ? data.images().size() : data.height();
  layout_.rows = frames ? data.height() : data.images().size();
  layout_.columns = data.width();
  if (layout_.columns < 2) {
    throw Error(Status::kWrongShape, files.data + ": found images of 1 column, expected 2 or more");
  }
  layout_.type = data.type();
  layout_.name_kinds = data.name_kinds();
  if (frames) layout_.numbers_left_out = data.numbers_left_out();
  layout_.counts = data.counts();
  const auto add = [&](const char* name, const std::string& path, std::string& set,
                       std::size_t& count) {
    if (path.empty()) return;
    const ImageStack stack(path);
    if (stack.height() != layout_.rows || stack.width() != layout_.columns) {
      throw Error(kScanMismatch,
                  print("%s: found %zu x %zu, expected frames of %zu x %zu", path.c_str(),
                        stack.height(), stack.width(), layout_.rows, layout_.columns));
    }
    set = name;
    count = stack.images().size();
    layout_.counts = layout_.counts && stack.counts();
    sets_.push_back({name, stack, StackKind::kProjections});
  };
  add(kFlats, files.flats, layout_.white, layout_.flats);
  add(kDarks, files.darks, layout_.dark, layout_.darks);
  assume_angles();
}

const StackReader::Set& StackReader::set(const std::string& name) const {
  for (const Set& each : sets_) {
    if (each.name == name) return each;
  }
  throw Error(Status::kInternal, layout_.path + ": no " + name);
}

/// Rows of a plain image are read where they lie; a packed one is unpacked as a whole.
std::vector<std::size_t> StackReader::chunk(const std::string& name) const {
  const Set& from = set(name);
  if (!from.stack.packed()) return {};
  if (from.kind == StackKind::kSinograms) return {layout_.angles, 1, layout_.columns};
  return {1, layout_.rows, layout_.columns};
}

template <class Value>
void StackReader::read(const Set& from, std::size_t frame, std::size_t frames, std::size_t first,
                       std::size_t rows, LargeVector<Value>& out) const {
  const std::size_t columns = layout_.columns;
  out.resize(frames * rows * columns);
  const bool sinograms = from.kind == StackKind::kSinograms;
  const std::size_t images = sinograms ? rows : frames, begin = sinograms ? first : frame;
  std::optional<tiff::Reader> reader;
  const std::string* open = nullptr;
  std::vector<Value> lines;
  for (std::size_t i = 0; i < images; ++i) {
    const ImageStack::Image& image = from.stack.images().at(begin + i);
    if (open == nullptr || *open != image.path) reader.emplace(image.path);
    open = &image.path;
    const tiff::Page& page = reader->page(image.page);
    if (page.height != from.stack.height() || page.width != columns ||
        tiff::name_of(page.number) != from.stack.type()) {
      throw Error(Status::kCorrupt, image.path + ": has changed while it was read");
    }
    if (!sinograms) {
      reader->read(image.page, first, rows,
                   std::span<Value>(out).subspan(i * rows * columns, rows * columns));
      continue;
    }
    lines.resize(frames * columns);
    reader->read(image.page, frame, frames, std::span<Value>(lines));
    for (std::size_t f = 0; f < frames; ++f) {
      std::copy_n(lines.data() + f * columns, columns, out.data() + (f * rows + i) * columns);
    }
  }
}

void StackReader::frames(const std::string& name, std::size_t frame, std::size_t frames,
                         std::size_t first, std::size_t rows, FrameBlock& out) const {
  out.frames = frames;
  out.rows = rows;
  out.columns = layout_.columns;
  const Set& from = set(name);
  layout_.counts ? read(from, frame, frames, first, rows, out.counts)
                 : read(from, frame, frames, first, rows, out.floats);
}

std::string StackReader::identity() const {
  std::vector<std::string> files;
  for (const Set& each : sets_) {
    for (const ImageStack::Image& image : each.stack.images()) {
      if (image.page == 0) files.push_back(image.path);
    }
  }
  return "stack=" + stamp_of_files(files);
}

}  // namespace tomoloom
