// SPDX-License-Identifier: BSD-3-Clause
// A file without a name or with a temporary one, fsync, link or rename. POSIX and Linux calls only;
// every failure says which file and why.
#include "loom/files/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/files/output_files.hpp"
#include "loom/runtime/process_identity.hpp"

namespace loom {
namespace {

[[noreturn]] void fail(int error, const std::string& path, const char* doing) {
  if (error == EEXIST) {
    throw Error(Status::kOutputExists, path + ": the output exists and --no-clobber was given");
  }
  throw Error(write_status(error), path + ": " + doing + ": " + std::strerror(error), error);
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_in_folder(const std::string& path) { return path.substr(path.rfind('/') + 1); }

constexpr std::string_view kMark = ".tmp-";

/// What a temporary name of a file begins with: so much of its own name that the rest has room.
std::string temporary_stem(const std::string& name) {
  constexpr std::size_t kLongestEnd = 64;  // kMark, PID, START, MACHINE, N, three dashes
  return name.substr(0, NAME_MAX - kLongestEnd) + std::string(kMark);
}

/// 16 hexadecimal digits that differ from machine to machine (FNV-1a).
std::string machine_tag(const std::string& machine) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : machine) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

/// Is the writer that the end of such a name tells of ("PID-START-MACHINE-N") known to be gone?
bool writer_is_gone(const std::string& who) {
  long pid = 0;
  unsigned long long start = 0;
  char tag[17] = {};
  unsigned count = 0;
  int end = 0;
  if (std::sscanf(who.c_str(), "%ld-%llu-%16[0-9a-f]-%u%n", &pid, &start, tag, &count, &end) != 4) {
    return false;
  }
  ProcessIdentity writer = this_process();
  const bool here = machine_tag(writer.machine) == tag;
  if (static_cast<std::size_t>(end) != who.size() || !here || start == 0) return false;
  writer.pid = pid;
  writer.start = start;
  return liveness(writer) == Liveness::kGone;
}

/// Files without a name that can be given one later: only where that is known to work. (Network and
/// parallel file systems refuse O_TMPFILE, or the link.)
bool has_nameless_files(int fd) {
  struct statfs info {};
  if (::fstatfs(fd, &info) != 0) return false;
  // linux/magic.h, of which old systems have a part: ext2 to 4, XFS, Btrfs, tmpfs, overlay
  constexpr std::array<unsigned long, 5> kKnown{0xef53, 0x58465342, 0x9123683e, 0x01021994,
                                                0x794c7630};
  const auto type = static_cast<unsigned long>(info.f_type) & 0xffffffffUL;
  if (std::find(kKnown.begin(), kKnown.end(), type) == kKnown.end()) return false;
  return ::access(("/proc/self/fd/" + std::to_string(fd)).c_str(), F_OK) == 0;
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

void write_all(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail(n < 0 ? errno : ENOSPC, path, "cannot write");
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace

/// NAME.tmp-PID-START-MACHINE-N, NAME cut where it is long; O_EXCL sorts out the rest.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> counter{0};
  const ProcessIdentity me = this_process();
  const std::string name = name_in_folder(path);
  return path.substr(0, path.size() - name.size()) + temporary_stem(name) + std::to_string(me.pid) +
         "-" + std::to_string(me.start) + "-" + machine_tag(me.machine) + "-" +
         std::to_string(counter++);
}

AtomicFile::AtomicFile(std::string path, Overwrite overwrite, Durable durable)
    : path_(std::move(path)),
      target_(follow_links(path_)),
      overwrite_(overwrite),
      durable_(durable) {
  struct stat info {};
  if (::stat(target_.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) fail(EISDIR, path_, "cannot write");
    if (S_ISCHR(info.st_mode)) {
      place_ = Place::kDevice;
      fd_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
      if (fd_ < 0) fail(errno, path_, "cannot open for writing");
      return;
    }
    if (!S_ISREG(info.st_mode)) {
      throw Error(Status::kUnwritable, path_ + ": cannot write: not a regular file");
    }
  }
  if (overwrite_ == Overwrite::kNo && ::lstat(target_.c_str(), &info) == 0) fail(EEXIST, path_, "");
  open_temporary();
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      overwrite_(other.overwrite_),
      durable_(other.durable_),
      place_(other.place_),
      fd_(std::exchange(other.fd_, -1)) {}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::open_temporary() {
  fd_ = ::open(folder_of(target_).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (fd_ >= 0 && has_nameless_files(fd_)) {
    place_ = Place::kNameless;
    return;
  }
  open_named();
}

void AtomicFile::open_named() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  for (;;) {
    std::string name = temporary_name(target_);
    fd_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ >= 0) {
      temporary_ = std::move(name);
      return;
    }
    if (errno != EEXIST && errno != EINTR) fail(errno, path_, "cannot create");
  }
}

const std::string& AtomicFile::place() {
  if (place_ == Place::kDevice) return target_;
  if (place_ == Place::kNameless) {
    open_named();
    place_ = Place::kNamed;
  }
  return temporary_;
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

void AtomicFile::commit() { commit(nullptr); }

void AtomicFile::commit(FilesTogether* together) {
  flush();
  if (together == nullptr) return give_name();
  if (together->files_.size() >= FilesTogether::kMostOpen) let_go();
  together->files_.push_back(std::move(*this));
}

void FilesTogether::commit() {
  std::vector<std::string> fresh;
  try {
    for (AtomicFile& file : files_) {
      struct stat info {};
      const bool replaces = ::lstat(file.target_.c_str(), &info) == 0;
      file.give_name();
      if (!replaces) fresh.push_back(file.target_);
    }
  } catch (...) {
    for (const std::string& path : fresh) ::unlink(path.c_str());
    files_.clear();
    throw;
  }
  files_.clear();
}

void AtomicFile::flush() {
  const bool sync = place_ != Place::kDevice && durable_ == Durable::kYes;
  if (sync && ::fsync(fd_) != 0) fail(errno, path_, "cannot write to the disk");
}

/// What is whole needs no descriptor, of which a process has few, but then a name.
void AtomicFile::let_go() {
  if (place_ == Place::kDevice) return;
  if (place_ == Place::kNameless) {
    name_it(Naming::kTemporary);
    place_ = Place::kNamed;
  }
  close();
}

void AtomicFile::close() {
  if (fd_ < 0) return;
  const int closed = ::close(std::exchange(fd_, -1));
  if (closed != 0 && errno != EINTR) fail(errno, path_, "cannot close");
}

void AtomicFile::give_name() {
  if (place_ == Place::kNameless) name_it(Naming::kFinal);
  close();
  if (place_ != Place::kDevice) publish();
}

/// Gives the file without a name one; 0 or an errno.
int AtomicFile::link_to(const std::string& name) const {
  const std::string self = "/proc/self/fd/" + std::to_string(fd_);
  const int done = ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW);
  return done == 0 ? 0 : errno;
}

/// A link does not replace: over an old file it takes a temporary name, which publish() renames.
void AtomicFile::name_it(Naming naming) {
  const bool may_wait = naming == Naming::kTemporary || overwrite_ == Overwrite::kYes;
  int error = naming == Naming::kFinal ? link_to(target_) : EEXIST;
  while (error == EEXIST && may_wait) {
    temporary_ = temporary_name(target_);
    error = link_to(temporary_);
  }
  if (error == ENOENT) {  // a run beside this one made the folder, failed, and found it empty
    make_folder_of(target_);
    error = link_to(temporary_.empty() ? target_ : temporary_);
  }
  if (error == 0) return;
  temporary_.clear();
  fail(error, path_, "cannot name the finished file");
}

void AtomicFile::publish() {
  int error = 0;
  if (temporary_.empty()) {  // has its name
  } else if (overwrite_ == Overwrite::kNo) {
    error = rename_no_replace(temporary_, target_);
  } else if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    error = errno;
  }
  if (error != 0) fail(error, path_, "cannot rename the finished file");
  temporary_.clear();
  if (durable_ == Durable::kNo) return;
  // Best effort: some file systems have no fsync for folders, and the data are safe already.
  const int folder = ::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    (void)::fsync(folder);
    ::close(folder);
  }
}

void write_whole(const std::string& path, std::string_view text, Overwrite overwrite,
                 Durable durable) {
  struct stat info {};
  const bool there = ::stat(path.c_str(), &info) == 0;
  if (there && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
    check_stream(path);
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) fail(errno, path, "cannot open for writing");
    try {
      write_all(fd, text, path);
    } catch (...) {
      ::close(fd);
      throw;
    }
    ::close(fd);
    return;
  }
  AtomicFile file(path, overwrite, durable);
  file.write_at(0, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  file.commit();
}

std::vector<std::string> dead_temporaries(const std::string& path) {
  std::vector<std::string> out;
  const std::string target = follow_links(path);
  const std::string start = temporary_stem(name_in_folder(target));
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder_of(target), ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(start) && writer_is_gone(name.substr(start.size()))) {
      out.push_back(entry.path().string());
    }
  }
  return out;
}

void remove_dead_temporaries(std::span<const std::string> paths) {
  std::map<std::string, std::set<std::string>> names;  // by folder
  for (const std::string& path : paths) {
    if (path.empty()) continue;
    const std::string target = follow_links(path);
    names[folder_of(target)].insert(temporary_stem(name_in_folder(target)));
  }
  std::error_code ignored;
  for (const auto& [folder, wanted] : names) {
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      const std::string name = entry.path().filename().string();
      const std::size_t at = name.rfind(kMark);
      if (at == std::string::npos || wanted.count(name.substr(0, at + kMark.size())) == 0) continue;
      if (writer_is_gone(name.substr(at + kMark.size()))) ::unlink(entry.path().c_str());
    }
  }
}

}  // namespace loom
