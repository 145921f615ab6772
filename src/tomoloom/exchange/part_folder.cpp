// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/exchange/part_folder.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/files/output_files.hpp"

namespace tomoloom {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, const char* what, int error) {
  throw Error(write_status(error), path + ": " + what + ": " + std::strerror(error), error);
}

/// What a folder holds beside what is its own; empty: nothing.
std::string other_than(const std::string& folder, const FolderContent& content) {
  std::error_code failed;
  for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed)) {
    const fs::file_status status = at->symlink_status();
    const fs::path name = at->path().lexically_relative(folder);
    const bool is_folder = fs::is_directory(status);
    if ((!is_folder && !fs::is_regular_file(status)) || !content.owns(name, is_folder)) {
      return name.string();
    }
  }
  return {};
}

/// What is of that kind in a folder goes; what is not stays, and folders with such in them.
void remove_all_in(const std::string& folder, const FolderContent& content) {
  std::vector<fs::path> own;
  std::error_code failed;
  for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed)) {
    const bool is_folder = fs::is_directory(at->symlink_status());
    if (content.owns(at->path().lexically_relative(folder), is_folder)) own.push_back(at->path());
  }
  for (auto path = own.rbegin(); path != own.rend(); ++path) fs::remove(*path, failed);
}

/// A folder with nothing in it but such goes; throws where there is more.
void remove_content(const std::string& folder, const FolderContent& content) {
  remove_all_in(folder, content);
  std::error_code failed;
  fs::remove(folder, failed);
  if (failed) {
    throw Error(Status::kUnwritable, folder + ": cannot be removed: " + failed.message());
  }
}

/// A folder, and those in it, as far as nothing else is there.
void remove_empty_folders(const std::string& folder) {
  std::vector<fs::path> all{folder};
  std::error_code failed;
  for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed)) {
    if (fs::is_directory(at->symlink_status())) all.push_back(at->path());
  }
  for (auto path = all.rbegin(); path != all.rend(); ++path) ::rmdir(path->c_str());
}

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

/// The folder at `from` becomes `to`, in one step where the system has such; what was there is
/// removed. 0 or an errno.
int put_in_place(const std::string& from, const std::string& to, Overwrite overwrite,
                 const FolderContent& content) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  const int refused = errno;
  const bool no_such_call = refused == EINVAL || refused == ENOSYS;
  if (refused != EEXIST && !no_such_call) return refused;
  if (overwrite == Overwrite::kNo && (refused == EEXIST || fs::exists(fs::symlink_status(to)))) {
    return EEXIST;
  }
  if (!no_such_call &&
      ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) {
    remove_content(from, content);
    return 0;
  }
  if (fs::exists(fs::symlink_status(to))) remove_content(to, content);
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

}  // namespace

bool holds_files(const std::string& path) {
  if (!fs::exists(fs::symlink_status(path))) return false;
  std::error_code failed;
  if (!fs::is_directory(path, failed)) return true;
  for (fs::recursive_directory_iterator at(path, failed), end; !failed && at != end;
       at.increment(failed)) {
    if (!fs::is_directory(at->symlink_status())) return true;
  }
  return static_cast<bool>(failed);
}

PartFolder::PartFolder(const std::string& folder, Overwrite overwrite, const FolderContent& content,
                       const std::optional<std::string>& making)
    : given_(folder),
      folder_(follow_links(without_slashes(folder))),
      overwrite_(overwrite),
      content_(content) {
  if (fs::exists(fs::symlink_status(folder_))) {
    if (overwrite == Overwrite::kNo && holds_files(folder_)) {
      throw Error(Status::kOutputExists, given_ + ": the output exists and --no-clobber was given");
    }
    if (!fs::is_directory(folder_)) {
      throw Error(Status::kOutputExists,
                  given_ + ": is a file, expected a folder of " + content_.what);
    }
    const std::string other = other_than(folder_, content_);
    if (!other.empty()) {
      throw Error(Status::kOutputExists, given_ + ": holds " + other +
                                             ": a folder is replaced where it holds " +
                                             content_.what + " alone");
    }
  }
  if (making) record_.emplace(folder_ + ".part.done", *making);
  try {
    make_part(making.has_value());
  } catch (const Error&) {
    close();
    throw;
  }
}

PartFolder::~PartFolder() {
  close();
  if (part_.empty() || record_) return;
  try {
    remove_content(part_, content_);
  } catch (const Error&) {  // somebody has put something there
  }
}

/// What killed runs of this machine left, as far as nobody has put something else there.
void PartFolder::remove_dead_parts() const {
  for (const std::string& left : dead_temporaries(folder_)) {
    if (!fs::is_directory(fs::symlink_status(left)) || !other_than(left, content_).empty())
      continue;
    try {
      remove_content(left, content_);
    } catch (const Error&) {  // no harm is done by what stays
    }
  }
}

void PartFolder::make_part(bool stays) {
  std::string name = folder_ + ".part";
  bool there = false;
  if (stays) {
    there = fs::exists(fs::symlink_status(name));
    if (!there && ::mkdir(name.c_str(), 0777) != 0) fail(name, "cannot be made", errno);
    if (there && (!fs::is_directory(name) || !other_than(name, content_).empty())) {
      throw Error(Status::kOutputExists,
                  name + ": is no unfinished folder of " + content_.what + ": remove it");
    }
  } else {
    remove_dead_parts();
    // a name of its own: another run may be making the same folder
    do {
      name = temporary_name(folder_);
    } while (::mkdir(name.c_str(), 0777) != 0 && errno == EEXIST);
    if (!fs::is_directory(name)) fail(given_, "cannot make a folder beside it", errno);
  }
  fd_ = ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd_ < 0) fail(name, "cannot be opened", errno);
  if (stays && ::flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw Error(Status::kUnwritable, name + ": another run is writing it");
  }
  part_ = name;
  // a record without its folder tells of what somebody has removed
  if (!stays || (there && record_->continues())) return;
  remove_all_in(name, content_);
  try {
    record_->start();
  } catch (const Error&) {  // nothing is in it yet that one could go on from
    ::rmdir(name.c_str());
    throw;
  }
}

void PartFolder::close() noexcept {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

std::size_t PartFolder::slices_done() const {
  return record_ && record_->continues() ? record_->slices_done() : 0;
}

bool PartFolder::done(std::size_t first, std::size_t count) const {
  return record_ && record_->continues() && record_->done(first, count);
}

void PartFolder::put(const std::string& name,
                     std::initializer_list<std::span<const std::uint8_t>> pieces) const {
  for (std::size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at + 1)) {
    const std::string above = name.substr(0, at);
    if (::mkdirat(fd_, above.c_str(), 0777) != 0 && errno != EEXIST) {
      fail(part_ + "/" + above, "cannot be made", errno);
    }
  }
  const int fd = ::openat(fd_, name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  int error = fd < 0 ? errno : 0;
  for (std::span<const std::uint8_t> rest : pieces) {
    while (error == 0 && !rest.empty()) {
      const ssize_t n = ::write(fd, rest.data(), rest.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) error = n < 0 ? errno : ENOSPC;
      if (n > 0) rest = rest.subspan(static_cast<std::size_t>(n));
    }
  }
  if (fd >= 0 && ::close(fd) != 0 && error == 0 && errno != EINTR) error = errno;
  if (error != 0) fail(part_ + "/" + name, "cannot be written", error);
}

/// Everything that was written reaches the disk, by one call for all of the files.
void PartFolder::sync() const {
  if (::syncfs(fd_) != 0) fail(part_, "cannot be written to the disk", errno);
}

void PartFolder::wrote(std::size_t first, std::size_t count) {
  if (!record_) return;
  sync();
  record_->add(first, count);
}

void PartFolder::commit() {
  if (!record_) sync();
  if (fs::is_directory(folder_)) {  // may have been filled meanwhile
    const std::string other = other_than(folder_, content_);
    if (!other.empty()) throw Error(Status::kOutputExists, given_ + ": holds " + other);
  }
  if (overwrite_ == Overwrite::kNo) remove_empty_folders(folder_);
  const int error = put_in_place(part_, folder_, overwrite_, content_);
  if (error == EEXIST) throw Error(Status::kOutputExists, given_ + ": the output exists");
  if (error != 0) fail(given_, "the finished folder cannot get its name", error);
  part_.clear();
  if (record_) record_->remove();
}

void PartFolder::discard() {
  if (part_.empty()) return;
  if (record_) record_->remove();
  remove_content(part_, content_);
  part_.clear();
}

}  // namespace tomoloom
