// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/exchange/slice_folder.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/files/output_files.hpp"
#include "loom/tiff/tiff.hpp"

namespace tomoloom {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBefore = "slice_", kEnd = ".tiff";

[[noreturn]] void fail(const std::string& path, const char* what, int error) {
  throw Error(write_status(error), path + ": " + what + ": " + std::strerror(error), error);
}

bool is_slice(std::string_view name) {
  if (name.size() <= kBefore.size() + kEnd.size() || name.substr(0, kBefore.size()) != kBefore ||
      name.substr(name.size() - kEnd.size()) != kEnd) {
    return false;
  }
  const auto digits = name.substr(kBefore.size(), name.size() - kBefore.size() - kEnd.size());
  return digits.find_first_not_of("0123456789") == std::string_view::npos;
}

/// What a folder holds beside slices; empty: nothing.
std::string other_than_slices(const std::string& folder) {
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    const std::string name = at->path().filename().string();
    if (!is_slice(name) || !fs::is_regular_file(at->symlink_status())) return name;
  }
  return {};
}

/// A folder with nothing in it but slices goes; throws where there is more.
void remove_slices(const std::string& folder) {
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    if (is_slice(at->path().filename().string())) fs::remove(at->path(), failed);
  }
  fs::remove(folder, failed);
  if (failed) {
    throw Error(Status::kUnwritable, folder + ": cannot be removed: " + failed.message());
  }
}

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

/// The folder at `from` becomes `to`, in one step where the system has such; what was there is
/// removed. 0 or an errno.
int put_in_place(const std::string& from, const std::string& to, Overwrite overwrite) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  const int refused = errno;
  const bool no_such_call = refused == EINVAL || refused == ENOSYS;
  if (refused != EEXIST && !no_such_call) return refused;
  if (overwrite == Overwrite::kNo && (refused == EEXIST || fs::exists(fs::symlink_status(to)))) {
    return EEXIST;
  }
  if (!no_such_call &&
      ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) {
    remove_slices(from);
    return 0;
  }
  if (fs::exists(fs::symlink_status(to))) remove_slices(to);
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

}  // namespace

std::string SliceFolder::file_name(std::size_t row) {
  return std::string(kBefore) + print("%05zu", row) + std::string(kEnd);
}

SliceFolder::SliceFolder(const std::string& folder, Overwrite overwrite, const VolumeShape& shape,
                         std::span<const VolumeNote> notes,
                         const std::optional<std::string>& making)
    : given_(folder),
      folder_(follow_links(without_slashes(folder))),
      overwrite_(overwrite),
      shape_(shape) {
  if (fs::exists(fs::symlink_status(folder_))) {
    if (overwrite == Overwrite::kNo) {
      throw Error(Status::kOutputExists, given_ + ": the output exists and --no-clobber was given");
    }
    if (!fs::is_directory(folder_)) {
      throw Error(Status::kOutputExists, given_ + ": is a file, expected a folder of slices");
    }
    const std::string other = other_than_slices(folder_);
    if (!other.empty()) {
      throw Error(Status::kOutputExists, given_ + ": holds " + other +
                                             ": a folder is replaced where it holds slices alone");
    }
  }
  std::string text;
  for (const VolumeNote& note : notes) text += note.name + "=" + note.value + "\n";
  header_ = tiff::page_header(shape.width, shape.width, text);
  if (making) record_.emplace(folder_ + ".part.done", *making);
  make_part(making.has_value());
}

SliceFolder::~SliceFolder() {
  if (fd_ >= 0) ::close(fd_);
  if (part_.empty() || record_) return;
  try {
    remove_slices(part_);
  } catch (const Error&) {  // somebody has put something there
  }
}

void SliceFolder::make_part(bool stays) {
  std::string name = folder_ + ".part";
  if (stays) {
    const bool there = fs::exists(fs::symlink_status(name));
    if (!there && ::mkdir(name.c_str(), 0777) != 0) fail(name, "cannot be made", errno);
    if (there && (!fs::is_directory(name) || !other_than_slices(name).empty())) {
      throw Error(Status::kOutputExists, name + ": is no unfinished folder of slices: remove it");
    }
  } else {
    // a name of its own: another run may be making the same folder
    const std::string own = name + "-" + std::to_string(::getpid()) + "-";
    int number = 0;
    do {
      name = own + std::to_string(number++);
    } while (::mkdir(name.c_str(), 0777) != 0 && errno == EEXIST);
    if (!fs::is_directory(name)) fail(given_, "cannot make a folder beside it", errno);
  }
  fd_ = ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd_ < 0) fail(name, "cannot be opened", errno);
  if (stays && ::flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw Error(Status::kUnwritable, name + ": another run is writing it");
  }
  part_ = name;
  if (!stays || record_->continues()) return;
  for (const auto& entry : fs::directory_iterator(name)) fs::remove(entry.path());
  record_->start();
}

std::size_t SliceFolder::slices_done() const {
  return record_ && record_->continues() ? record_->slices_done() : 0;
}

bool SliceFolder::done(std::size_t first, std::size_t count) const {
  return record_ && record_->continues() && record_->done(first, count);
}

void SliceFolder::write_slice(std::size_t number, std::span<const float> slice) const {
  const std::string name = file_name(shape_.row(number));
  const int fd = ::openat(fd_, name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  int error = fd < 0 ? errno : 0;
  const auto put = [&](const std::uint8_t* bytes, std::size_t count) {
    while (error == 0 && count > 0) {
      const ssize_t n = ::write(fd, bytes, count);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) error = n < 0 ? errno : ENOSPC;
      if (n > 0) {
        bytes += n;
        count -= static_cast<std::size_t>(n);
      }
    }
  };
  put(header_.data(), header_.size());
  put(reinterpret_cast<const std::uint8_t*>(slice.data()), slice.size_bytes());
  if (fd >= 0 && ::close(fd) != 0 && error == 0 && errno != EINTR) error = errno;
  if (error != 0) fail(part_ + "/" + name, "cannot be written", error);
}

/// Everything that was written reaches the disk, by one call for all of the files.
void SliceFolder::sync() const {
  if (::syncfs(fd_) != 0) fail(part_, "cannot be written to the disk", errno);
}

void SliceFolder::write(std::size_t first, std::span<const float> slices) {
  const std::size_t slice = shape_.width * shape_.width, count = slices.size() / slice;
  for (std::size_t i = 0; i < count; ++i) {
    write_slice(first + i, slices.subspan(i * slice, slice));
  }
  if (!record_) return;
  sync();
  record_->add(first, count);
}

void SliceFolder::commit() {
  if (!record_) sync();
  if (fs::is_directory(folder_)) {  // may have been filled meanwhile
    const std::string other = other_than_slices(folder_);
    if (!other.empty()) throw Error(Status::kOutputExists, given_ + ": holds " + other);
  }
  const int error = put_in_place(part_, folder_, overwrite_);
  if (error == EEXIST) throw Error(Status::kOutputExists, given_ + ": the output exists");
  if (error != 0) fail(given_, "the finished folder cannot get its name", error);
  part_.clear();
  if (record_) record_->remove();
}

void SliceFolder::discard() {
  if (part_.empty()) return;
  if (record_) record_->remove();
  remove_slices(part_);
  part_.clear();
}

}  // namespace tomoloom
