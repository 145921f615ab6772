// SPDX-License-Identifier: BSD-3-Clause
// A file that appears under its name only when it is whole. Knows nothing of FITS.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace fiberloom {

/// What to do when the output is there already.
enum class Overwrite { kYes, kNo };

namespace fits {

/// Writes to a temporary name beside `path`; commit() makes it durable and renames it. Destroyed
/// without commit(), it removes the temporary and leaves what was there before untouched.
/// A character device (/dev/null) is written directly. Throws kOutputExists, kUnwritable,
/// kDiskFull.
class AtomicFile {
 public:
  AtomicFile(std::string path, Overwrite overwrite);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write_at(std::uint64_t offset, std::span<const std::uint8_t> bytes);
  /// fsync, rename, fsync of the folder. With Overwrite::kNo an output that appeared meanwhile is
  /// not replaced (kOutputExists).
  void commit();

 private:
  void open_temporary();
  void publish();

  std::string path_, temporary_;
  Overwrite overwrite_;
  int fd_ = -1;
};

}  // namespace fits
}  // namespace fiberloom
