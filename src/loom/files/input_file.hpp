// SPDX-License-Identifier: BSD-3-Clause
// The one way to open an input: regular files only, so that no pipe, device or folder can make a
// read wait for ever. Knows no formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace loom {

/// An open regular file. Reading from several threads is safe.
class InputFile {
 public:
  /// Throws kNotFound: it is not there, not readable, or a pipe, folder, device or socket.
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }  ///< when it was opened
  /// Up to out.size() bytes from `offset`; fewer at the end of the file alone. Throws kNotFound.
  [[nodiscard]] std::size_t read(std::uint64_t offset, std::span<std::uint8_t> out) const;

 private:
  std::string path_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

/// A whole file as text, without the mark of UTF-8 that some editors begin it with. Throws what
/// InputFile throws, and kCorrupt where it is longer than that.
[[nodiscard]] std::string read_text(const std::string& path, std::size_t max_bytes);

/// CRC-32 (gzip's) of the bytes as they are on disk. Throws kNotFound.
[[nodiscard]] std::uint32_t file_crc32(const std::string& path);

}  // namespace loom
