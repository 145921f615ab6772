// SPDX-License-Identifier: BSD-3-Clause
#include "loom/hdf5/direct_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace loom::hdf5 {

DirectFile::~DirectFile() {
  if (fd_ >= 0) ::close(fd_);
}

bool DirectFile::write(std::uint64_t offset, std::span<const std::byte> chunk) {
#ifdef O_DIRECT
  if (refused_ || chunk.size() < kDirectLeast || chunk.size() % kDirectAlign != 0 ||
      offset % kDirectAlign != 0) {
    return false;
  }
  if (fd_ < 0) fd_ = ::open(path_.c_str(), O_WRONLY | O_DIRECT | O_CLOEXEC);
  refused_ = fd_ < 0;
  if (refused_) return false;
  room_.resize(chunk.size() + kDirectAlign);
  void* aligned = room_.data();
  std::size_t space = room_.size();
  if (std::align(kDirectAlign, chunk.size(), aligned, space) == nullptr) return false;
  std::memcpy(aligned, chunk.data(), chunk.size());
  const ssize_t done = ::pwrite(fd_, aligned, chunk.size(), static_cast<off_t>(offset));
  refused_ = done < 0 && errno == EINVAL;  // a disk that wants more than kDirectAlign
  return done == static_cast<ssize_t>(chunk.size());
#else
  return false;
#endif
}

}  // namespace loom::hdf5
