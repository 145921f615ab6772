// SPDX-License-Identifier: BSD-3-Clause
// Scans as stacks of TIFF images: a folder of files or one file of many pages; each image a
// projection, or the sinogram of a row.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tomoloom/exchange/frame_source.hpp"

namespace tomoloom {

enum class StackKind { kProjections, kSinograms };

/// Images in the order of their names, numbers in them by value (2 before 10); pages in theirs.
class ImageStack {
 public:
  /// Throws kNotFound (no such file, no images in the folder), kWrongShape where the images differ
  /// in size or kind of number, kUsage where there are too many; and what tiff::Reader throws.
  explicit ImageStack(const std::string& path);

  struct Image {
    std::string path;
    std::size_t page = 0;
  };
  [[nodiscard]] const std::vector<Image>& images() const noexcept { return images_; }
  [[nodiscard]] std::size_t height() const noexcept { return height_; }
  [[nodiscard]] std::size_t width() const noexcept { return width_; }
  [[nodiscard]] const std::string& type() const noexcept { return type_; }
  [[nodiscard]] bool counts() const noexcept { return counts_; }  ///< 16 bits or fewer, unsigned
  [[nodiscard]] bool packed() const noexcept { return packed_; }
  /// What is odd about the files' names (image_names.hpp); empty: nothing.
  [[nodiscard]] const std::string& name_kinds() const noexcept { return name_kinds_; }
  [[nodiscard]] const std::string& numbers_left_out() const noexcept { return numbers_left_out_; }

 private:
  void add(const std::string& path);
  std::vector<Image> images_;
  std::size_t height_ = 0, width_ = 0;
  std::string type_, name_kinds_, numbers_left_out_;
  bool counts_ = true, packed_ = false;
};

struct StackFiles {
  std::string data, flats, darks;            ///< folders or files; of flats and darks may be none
  StackKind kind = StackKind::kProjections;  ///< of the data; flats and darks are frames
};

class StackReader final : public FrameSource {
 public:
  /// Throws what ImageStack throws, and kScanMismatch where flats or darks have other sizes.
  explicit StackReader(const StackFiles& files);

  void frames(const std::string& name, std::size_t frame, std::size_t frames, std::size_t first,
              std::size_t rows, FrameBlock& out) const override;
  [[nodiscard]] std::vector<std::size_t> chunk(const std::string& name) const override;
  [[nodiscard]] std::string identity() const override;

 private:
  struct Set {
    std::string name;
    ImageStack stack;
    StackKind kind;
  };
  [[nodiscard]] const Set& set(const std::string& name) const;
  template <class Value>
  void read(const Set& set, std::size_t frame, std::size_t frames, std::size_t first,
            std::size_t rows, LargeVector<Value>& out) const;
  std::vector<Set> sets_;
};

/// The files of a stack, in order, none of them opened. Throws kNotFound (no images in the folder).
[[nodiscard]] std::vector<std::string> stack_files(const std::string& path);

/// Whether a folder has images in it.
[[nodiscard]] bool holds_images(const std::string& folder);

/// Whether a scan is a stack of images: a folder, or a file that is named as one.
[[nodiscard]] bool is_stack(const std::string& path);

}  // namespace tomoloom
