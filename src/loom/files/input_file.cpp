// SPDX-License-Identifier: BSD-3-Clause
// stat, open without waiting, and fstat of what was opened: the name may have changed in between.
#include "loom/files/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "loom/base/error.hpp"
#include "loom/files/gzip.hpp"

namespace loom {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error(Status::kNotFound, path + ": " + what);
}

[[noreturn]] void refused(const std::string& path, const char* doing, int error) {
  throw Error(Status::kNotFound, path + ": " + doing + ": " + std::strerror(error), error);
}

void require_regular(const std::string& path, mode_t mode) {
  if (S_ISREG(mode)) return;
  const char* const kind = S_ISDIR(mode)                    ? "a folder"
                           : S_ISFIFO(mode)                 ? "a pipe"
                           : S_ISSOCK(mode)                 ? "a socket"
                           : S_ISCHR(mode) || S_ISBLK(mode) ? "a device"
                                                            : "something else";
  fail(path, std::string("is ") + kind + ", expected a regular file");
}

}  // namespace

InputFile::InputFile(const std::string& path) : path_(path) {
  struct stat info {};
  // Before opening: opening a device may already do something.
  if (::stat(path.c_str(), &info) != 0) refused(path, "cannot open", errno);
  require_regular(path, info.st_mode);
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOCTTY;
  fd_ = ::open(path.c_str(), kFlags | O_NONBLOCK);
  // A regular file that is leased to others, or on tape, asks to be waited for.
  if (fd_ < 0 && errno == EAGAIN) fd_ = ::open(path.c_str(), kFlags);
  if (fd_ < 0) refused(path, "cannot open", errno);
  try {
    if (::fstat(fd_, &info) != 0) refused(path, "cannot open", errno);
    require_regular(path, info.st_mode);
  } catch (...) {
    ::close(fd_);
    throw;
  }
  size_ = static_cast<std::uint64_t>(info.st_size);
}

InputFile::~InputFile() { ::close(fd_); }

std::size_t InputFile::read(std::uint64_t offset, std::span<std::uint8_t> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t n =
        ::pread(fd_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) refused(path_, "cannot read", errno);
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

std::string read_text(const std::string& path, std::size_t max_bytes) {
  const InputFile file(path);
  // Files of /proc say that they are empty: ask for more than the size, in growing steps.
  std::string out;
  std::size_t step = std::max<std::size_t>(std::min<std::size_t>(file.size(), max_bytes) + 1, 4096);
  for (;;) {
    const std::size_t before = out.size();
    out.resize(before + step);
    auto* const to = reinterpret_cast<std::uint8_t*>(out.data()) + before;
    const std::size_t n = file.read(before, {to, step});
    out.resize(before + n);
    if (out.size() > max_bytes) {
      throw Error(Status::kCorrupt,
                  path + ": has more than " + std::to_string(max_bytes) + " bytes, too many");
    }
    if (n >= step) {
      step *= 2;
      continue;
    }
    constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";  // that it is UTF-8: no part of the text
    if (out.starts_with(kUtf8Mark)) out.erase(0, kUtf8Mark.size());
    return out;
  }
}

std::uint32_t file_crc32(const std::string& path) {
  const InputFile file(path);
  constexpr std::size_t kChunk = std::size_t{1} << 20;
  std::vector<std::uint8_t> chunk(kChunk);
  std::uint32_t crc = 0;
  std::uint64_t at = 0;
  for (std::size_t n = kChunk; n == kChunk; at += n) {
    n = file.read(at, chunk);
    crc = crc32(crc, {chunk.data(), n});
  }
  return crc;
}

}  // namespace loom
