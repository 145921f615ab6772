// SPDX-License-Identifier: BSD-3-Clause
#include "loom/hdf5/direct_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

namespace loom::hdf5 {
namespace {

/// What is copied and written at once.
constexpr std::size_t kPiece = std::size_t{4} << 20;

}  // namespace

DirectFile::~DirectFile() {
  if (fd_ >= 0) ::close(fd_);
}

bool DirectFile::write(std::uint64_t offset, std::span<const std::byte> chunks) {
#ifdef O_DIRECT
  if (refused_ || chunks.size() < kDirectLeast || chunks.size() % kDirectAlign != 0 ||
      offset % kDirectAlign != 0) {
    return false;
  }
  if (fd_ < 0) fd_ = ::open(path_.c_str(), O_WRONLY | O_DIRECT | O_CLOEXEC);
  refused_ = fd_ < 0;
  if (refused_) return false;
  if (reinterpret_cast<std::uintptr_t>(chunks.data()) % kDirectAlign == 0) {
    return put(offset, chunks.data(), chunks.size());
  }
  // by way of memory that begins where a disk wants it
  room_.resize(kPiece + kDirectAlign);
  void* aligned = room_.data();
  std::size_t space = room_.size();
  if (std::align(kDirectAlign, kPiece, aligned, space) == nullptr) return false;
  while (!chunks.empty()) {
    const std::size_t size = std::min(chunks.size(), kPiece);
    std::memcpy(aligned, chunks.data(), size);
    if (!put(offset, aligned, size)) return false;
    offset += size;
    chunks = chunks.subspan(size);
  }
  return true;
#else
  return false;
#endif
}

bool DirectFile::put(std::uint64_t offset, const void* data, std::size_t size) {
  const ssize_t done = ::pwrite(fd_, data, size, static_cast<off_t>(offset));
  refused_ = done < 0 && errno == EINVAL;  // a disk that wants more than kDirectAlign
  return done == static_cast<ssize_t>(size);
}

}  // namespace loom::hdf5
