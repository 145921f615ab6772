// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/exchange/row_spool.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "loom/base/error.hpp"
#include "loom/files/output_files.hpp"

namespace tomoloom {
namespace {

/// A file that nobody else sees, and that is gone with its descriptor.
int open_nameless(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
  std::string name = folder + "/.tomoloom-spool-XXXXXX";  // a file system without such
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

}  // namespace

RowSpool::RowSpool(const std::string& folder, const SpoolShape& shape)
    : folder_(folder.empty() ? "." : folder), shape_(shape), fd_(open_nameless(folder_)) {
  if (fd_ < 0) {
    throw Error(write_status(errno), folder_ + ": no temporary file can be made", errno);
  }
}

RowSpool::~RowSpool() {
  if (fd_ >= 0) ::close(fd_);
}

std::size_t RowSpool::rows_of(std::size_t block) const noexcept {
  return std::min(shape_.block_rows, shape_.rows - block * shape_.block_rows);
}

std::size_t RowSpool::place(std::size_t frame, std::size_t row) const noexcept {
  const std::size_t block = row / shape_.block_rows, first = block * shape_.block_rows;
  const std::size_t before = shape_.frames * first + frame * rows_of(block) + (row - first);
  return before * shape_.columns * shape_.value_bytes;
}

void RowSpool::put(std::size_t frame, std::size_t frames, std::size_t row, std::size_t rows,
                   std::span<const std::byte> values) {
  const std::size_t line = shape_.columns * shape_.value_bytes;
  for (std::size_t f = 0; f < frames; ++f) {
    for (std::size_t r = 0; r < rows;) {
      const std::size_t at = row + r, block = at / shape_.block_rows;
      const std::size_t left = block * shape_.block_rows + rows_of(block) - at;
      const std::size_t count = std::min(left, rows - r);
      const std::byte* from = values.data() + (f * rows + r) * line;
      std::size_t bytes = count * line, to = place(frame + f, at);
      while (bytes > 0) {
        const ssize_t wrote = ::pwrite(fd_, from, bytes, static_cast<off_t>(to));
        if (wrote <= 0) {
          if (wrote < 0 && errno == EINTR) continue;
          const int error = wrote < 0 ? errno : ENOSPC;
          throw Error(write_status(error), folder_ + ": the temporary file cannot be written",
                      error);
        }
        from += wrote;
        to += static_cast<std::size_t>(wrote);
        bytes -= static_cast<std::size_t>(wrote);
      }
      r += count;
    }
  }
}

void RowSpool::get(std::size_t row, std::size_t rows, std::span<std::byte> values) const {
  const std::size_t line = shape_.columns * shape_.value_bytes;
  if (row % shape_.block_rows == 0 && rows == rows_of(row / shape_.block_rows)) {
    return fetch(place(0, row), values.first(shape_.frames * rows * line));  // lies in one piece
  }
  for (std::size_t f = 0; f < shape_.frames; ++f) {
    for (std::size_t r = 0; r < rows;) {
      const std::size_t at = row + r, block = at / shape_.block_rows;
      const std::size_t left = block * shape_.block_rows + rows_of(block) - at;
      const std::size_t count = std::min(left, rows - r);
      fetch(place(f, at), values.subspan((f * rows + r) * line, count * line));
      r += count;
    }
  }
}

void RowSpool::fetch(std::size_t from, std::span<std::byte> to) const {
  while (!to.empty()) {
    const ssize_t got = ::pread(fd_, to.data(), to.size(), static_cast<off_t>(from));
    if (got <= 0) {
      if (got < 0 && errno == EINTR) continue;
      throw Error(Status::kCorrupt, folder_ + ": the temporary file cannot be read", errno);
    }
    from += static_cast<std::size_t>(got);
    to = to.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace tomoloom
