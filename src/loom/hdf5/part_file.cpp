// SPDX-License-Identifier: BSD-3-Clause
#include "loom/hdf5/part_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "loom/base/error.hpp"
#include "loom/files/output_files.hpp"
#include "loom/hdf5/hdf5.hpp"

namespace loom::hdf5 {

std::string part_name(const std::string& path) { return follow_links(path) + ".part"; }

bool is_being_written(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool locked = ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(fd);
  return locked;
}

void flush_to_disk(const std::string& place, const std::string& path) {
  const int fd = ::open(place.c_str(), O_RDONLY | O_CLOEXEC);
  const bool good = fd >= 0 && ::fsync(fd) == 0;
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (!good) throw Error(write_status(error), path + ": cannot be written", error);
}

void publish_part(const std::string& path, Overwrite overwrite) {
  const std::string part = part_name(path), target = follow_links(path);
  flush_to_disk(part, path);
  if (overwrite == Overwrite::kNo) {
    if (::link(part.c_str(), target.c_str()) != 0) {
      const int error = errno;
      throw Error(error == EEXIST ? Status::kOutputExists : write_status(error),
                  path + (error == EEXIST ? ": exists already" : ": cannot be written"), error);
    }
    ::unlink(part.c_str());
  } else if (::rename(part.c_str(), target.c_str()) != 0) {
    throw Error(write_status(errno), path + ": cannot be written", errno);
  }
  const std::filesystem::path folder = std::filesystem::path(target).parent_path();
  flush_to_disk(folder.empty() ? "." : folder.string(), path);
}

}  // namespace loom::hdf5
