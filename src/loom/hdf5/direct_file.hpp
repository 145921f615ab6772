// SPDX-License-Identifier: BSD-3-Clause
// Whole chunks, one or many side by side, written past the page cache, into a file that a library
// has made and laid out. Knows no library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace loom::hdf5 {

/// Where such chunks begin and how long they are is a multiple of this: no disk wants more.
inline constexpr std::size_t kDirectAlign = 4096;
/// Smaller ones are better gathered by the page cache.
inline constexpr std::size_t kDirectLeast = std::size_t{1} << 20;

/// Copying a volume into the page cache takes as much of a core as a third to two thirds of what
/// computing it does; the disk takes it by itself. Not every file system offers that: who is told
/// "no" writes as ever.
class DirectFile {
 public:
  /// Opens when it is first written to.
  explicit DirectFile(std::string path) : path_(std::move(path)) {}
  ~DirectFile();
  DirectFile(const DirectFile&) = delete;
  DirectFile& operator=(const DirectFile&) = delete;

  /// In one piece where it begins at a multiple of kDirectAlign in memory too, else copied by
  /// pieces. false: nothing of it, or not all, is there. Then it must be written in another way.
  [[nodiscard]] bool write(std::uint64_t offset, std::span<const std::byte> chunks);

 private:
  [[nodiscard]] bool put(std::uint64_t offset, const void* data, std::size_t size);

  std::string path_;
  int fd_ = -1;
  bool refused_ = false;
  std::vector<std::byte> room_;
};

}  // namespace loom::hdf5
