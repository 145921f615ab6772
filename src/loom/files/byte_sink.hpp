// SPDX-License-Identifier: BSD-3-Clause
// Where the bytes of a new file go: into memory, or into an AtomicFile.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "loom/files/atomic_file.hpp"

namespace loom {

/// A growing sequence of bytes; what stands may be overwritten once.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void append(std::span<const std::uint8_t> bytes) = 0;
  virtual void overwrite(std::uint64_t offset, std::span<const std::uint8_t> bytes) = 0;
  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
};

class MemorySink final : public ByteSink {
 public:
  void append(std::span<const std::uint8_t> bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void overwrite(std::uint64_t offset, std::span<const std::uint8_t> bytes) override {
    std::copy(bytes.begin(), bytes.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  [[nodiscard]] std::uint64_t size() const noexcept override { return bytes_.size(); }
  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const noexcept { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

class FileSink final : public ByteSink {
 public:
  explicit FileSink(AtomicFile& file) : file_(file) {}
  void append(std::span<const std::uint8_t> bytes) override {
    file_.write_at(size_, bytes);
    size_ += bytes.size();
  }
  void overwrite(std::uint64_t offset, std::span<const std::uint8_t> bytes) override {
    file_.write_at(offset, bytes);
  }
  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }

 private:
  AtomicFile& file_;
  std::uint64_t size_ = 0;
};

}  // namespace loom
