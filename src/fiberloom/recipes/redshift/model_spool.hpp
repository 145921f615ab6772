// SPDX-License-Identifier: BSD-3-Clause
// Rows of numbers that come one after the other and are wanted all at once at the end, on disk
// meanwhile: a file without a name beside the output.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace fiberloom {

class ModelSpool {
 public:
  /// In the folder of `beside`. Throws kUnwritable, kDiskFull.
  ModelSpool(const std::string& beside, std::size_t columns);
  ModelSpool(ModelSpool&& other) noexcept;
  ModelSpool(const ModelSpool&) = delete;
  ModelSpool& operator=(const ModelSpool&) = delete;
  ModelSpool& operator=(ModelSpool&&) = delete;
  ~ModelSpool();

  /// A row, as float; zeros where it is empty.
  void append(const std::vector<double>& row);
  /// All rows; valid until the spool goes. No more rows after it.
  [[nodiscard]] std::span<const float> values();

 private:
  std::string path_;
  std::size_t columns_ = 0, rows_ = 0;
  int fd_ = -1;
  void* map_ = nullptr;
};

}  // namespace fiberloom
