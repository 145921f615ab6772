// SPDX-License-Identifier: BSD-3-Clause
// Temporary name, fsync, rename. POSIX calls only; every failure says which file and why.
#include "fiberloom/fits/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "fiberloom/base/error.hpp"

namespace fiberloom::fits {
namespace {

[[noreturn]] void fail(int error, const std::string& path, const char* doing) {
  Status status = Status::kUnwritable;
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) status = Status::kDiskFull;
  if (error == EEXIST) status = Status::kOutputExists;
  const std::string why = status == Status::kOutputExists
                              ? "the output exists and --no-clobber was given"
                              : std::string(doing) + ": " + std::strerror(error);
  throw Error(status, path + ": " + why, error);
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// A different name at each call in this process; O_EXCL sorts out the other processes.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> counter{0};
  return path + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
}

/// rename() that refuses to replace; 0 or an errno. link() where the file system has no such
/// rename.
int rename_no_replace(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  if (::link(from.c_str(), to.c_str()) != 0) return errno;
  ::unlink(from.c_str());
  return 0;
}

}  // namespace

AtomicFile::AtomicFile(std::string path, Overwrite overwrite)
    : path_(std::move(path)), overwrite_(overwrite) {
  struct stat info {};
  if (::stat(path_.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) fail(EISDIR, path_, "cannot write");
    if (S_ISCHR(info.st_mode)) {
      fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
      if (fd_ < 0) fail(errno, path_, "cannot open for writing");
      return;
    }
    if (!S_ISREG(info.st_mode)) {
      throw Error(Status::kUnwritable, path_ + ": cannot write: not a regular file");
    }
  }
  if (overwrite_ == Overwrite::kNo && ::lstat(path_.c_str(), &info) == 0) fail(EEXIST, path_, "");
  open_temporary();
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::open_temporary() {
  for (;;) {
    std::string name = temporary_name(path_);
    fd_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ >= 0) {
      temporary_ = std::move(name);
      return;
    }
    if (errno != EEXIST && errno != EINTR) fail(errno, path_, "cannot create");
  }
}

void AtomicFile::write_at(std::uint64_t offset, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail(n < 0 ? errno : ENOSPC, path_, "cannot write");
    bytes = bytes.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
}

void AtomicFile::commit() {
  const bool device = temporary_.empty();
  if (!device && ::fsync(fd_) != 0) fail(errno, path_, "cannot write to the disk");
  const int closed = ::close(std::exchange(fd_, -1));
  if (closed != 0 && errno != EINTR) fail(errno, path_, "cannot close");
  if (!device) publish();
}

void AtomicFile::publish() {
  int error = 0;
  if (overwrite_ == Overwrite::kNo) {
    error = rename_no_replace(temporary_, path_);
  } else if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    error = errno;
  }
  if (error != 0) fail(error, path_, "cannot rename the finished file");
  temporary_.clear();
  // Best effort: some file systems have no fsync for folders, and the data are safe already.
  const int folder = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    (void)::fsync(folder);
    ::close(folder);
  }
}

}  // namespace fiberloom::fits
