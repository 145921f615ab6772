// SPDX-License-Identifier: BSD-3-Clause
// stat, readlink and access; nothing here opens a file, but for a pipe to see whether it is read.
#include "loom/files/output_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "loom/base/letter_case.hpp"
#include "loom/files/files_below.hpp"

namespace loom {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as the kernel follows

/// A device, a pipe, a socket: what is written there replaces nothing.
bool is_stream(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

std::optional<FileIdentity> identity_of_existing(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return FileIdentity{info.st_dev, info.st_ino, {}};
}

/// What reading takes where `path` is not there.
std::string instead_of(const std::string& path) {
  if (is_there(path)) return path;
  const std::string other = path.ends_with(".gz") ? path.substr(0, path.size() - 3) : path + ".gz";
  return is_there(other) ? other : path;
}

}  // namespace

fs::path parent_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

bool is_there(const std::filesystem::path& path) noexcept {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0;
}

bool has_ending(std::string_view name, std::string_view ending) noexcept {
  return name.size() >= ending.size() &&
         same_but_for_case(name.substr(name.size() - ending.size()), ending);
}

Status write_status(int error) noexcept {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return full ? Status::kDiskFull : Status::kUnwritable;
}

std::string follow_links(const std::string& path) {
  fs::path at = path;
  std::error_code error;
  for (int i = 0; i < kMostLinks; ++i) {
    const fs::path target = fs::read_symlink(at, error);
    if (error) return at.string();
    const fs::path next = target.is_absolute() ? target : at.parent_path() / target;
    // /dev/stdout of a pipeline leads to "pipe:[123]", which is no name of anything
    if (is_there(at) && !is_there(next)) return at.string();
    at = next;
  }
  return path;  // a circle: whoever opens it will say so
}

FileIdentity file_identity(const std::string& path) {
  const fs::path target = fs::absolute(follow_links(path));
  if (const auto found = identity_of_existing(target)) return *found;
  std::error_code ignored;
  fs::path whole = fs::weakly_canonical(target, ignored);
  if (whole.empty()) whole = target.lexically_normal();
  // "none/../x" is x, though there is no "none" to go through
  if (const auto found = identity_of_existing(whole)) return *found;
  fs::path folder = whole.parent_path(), rest = whole.filename();
  while (!is_there(folder) && folder.has_relative_path()) {
    rest = folder.filename() / rest;
    folder = folder.parent_path();
  }
  FileIdentity identity = identity_of_existing(folder).value_or(FileIdentity{});
  identity.rest = rest.string();
  return identity;
}

namespace {

/// file_identity() of many files: what is not there is told from its folder, each folder is looked
/// at once, and a plain file too.
class Identities {
 public:
  /// nullopt: nothing that a run could overwrite.
  std::optional<FileIdentity> of(const std::string& path) {
    if (path.empty() || path == "-") return std::nullopt;
    struct stat info {};
    const bool plain = path.find("..") == std::string::npos &&
                       path.find("//") == std::string::npos && !path.ends_with('/');
    const bool there = ::lstat(path.c_str(), &info) == 0;
    const bool gone = !there && errno == ENOENT;
    if (there && S_ISREG(info.st_mode)) return FileIdentity{info.st_dev, info.st_ino, {}};
    if (!gone && is_stream(path)) return std::nullopt;
    if (!plain || !gone) return file_identity(path);
    const std::size_t slash = path.rfind('/');
    const std::string folder =
        slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
    const auto [known, fresh] = folders_.try_emplace(folder);
    if (fresh) known->second = file_identity(folder);
    FileIdentity identity = known->second;
    if (!identity.rest.empty()) identity.rest += '/';
    identity.rest.append(path, slash == std::string::npos ? 0 : slash + 1);
    return identity;
  }

 private:
  std::unordered_map<std::string, FileIdentity> folders_;
};

}  // namespace

std::vector<NamedFile> named(const std::string& what, std::span<const std::string> paths) {
  std::vector<NamedFile> files;
  for (const std::string& path : paths) files.push_back({what, path});
  return files;
}

std::vector<std::string> paths_of(std::span<const NamedFile> files) {
  std::vector<std::string> paths;
  for (const NamedFile& file : files) paths.push_back(file.path);
  return paths;
}

void check_distinct(std::span<const NamedFile> outputs, std::span<const NamedFile> inputs) {
  Identities identities;
  std::map<FileIdentity, const NamedFile*> known;
  std::unordered_set<std::string_view> seen;  // many frames have one PSF
  for (const NamedFile& input : inputs) {
    if (input.path.empty() || !seen.insert(input.path).second) continue;
    if (const auto identity = identities.of(instead_of(input.path))) {
      known.emplace(*identity, &input);
    }
  }
  std::map<FileIdentity, const NamedFile*> written;
  for (const NamedFile& output : outputs) {
    const auto found = identities.of(output.path);
    if (!found) continue;
    const FileIdentity& identity = *found;
    if (const auto input = known.find(identity); input != known.end()) {
      throw Error(Status::kUsage, output.path + " (" + output.what + "): is an input (" +
                                      input->second->what + " " + input->second->path +
                                      "), it cannot be an output too");
    }
    const auto [other, fresh] = written.emplace(identity, &output);
    if (fresh) continue;
    throw Error(Status::kUsage, output.path + " (" + output.what +
                                    "): is asked for as two different outputs (" +
                                    other->second->what + " " + other->second->path + ")");
  }
}

std::vector<NamedFile> with_files_of_folders(std::span<const NamedFile> inputs,
                                             std::span<const std::string_view> endings) {
  std::vector<NamedFile> out(inputs.begin(), inputs.end());
  for (const NamedFile& input : inputs) {
    std::error_code error;  // what cannot be read is told of when it is opened
    if (input.path.empty() || !fs::is_directory(input.path, error)) continue;
    for (const std::string& path : files_below(input.path, 1).files) {
      if (std::ranges::any_of(endings, [&](auto end) { return has_ending(path, end); })) {
        out.push_back({input.what, path});
      }
    }
  }
  return out;
}

void check_file_name(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  if (!name.empty() && name != "." && name != "..") return;
  throw Error(Status::kUnwritable, path + ": cannot write: is the name of a directory");
}

void check_place(const std::string& path) {
  if (is_stream(path)) return;  // /dev/null replaces nothing in /dev
  fs::path folder = parent_of(follow_links(path));
  std::error_code error;
  while (!is_there(folder) && (errno == ENOENT || errno == ENOTDIR) && folder.has_relative_path()) {
    folder = folder.parent_path().empty() ? fs::path(".") : folder.parent_path();
  }
  if (!fs::is_directory(folder, error)) {
    throw Error(Status::kUnwritable, path + ": " + folder.string() + " is no folder" +
                                         (error ? " (" + error.message() + ")" : ""));
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    const int refused = errno;
    throw Error(Status::kUnwritable,
                path + ": cannot write in " + folder.string() + " (" + std::strerror(refused) + ")",
                refused);
  }
}

namespace {

void check_one(const std::string& path, Overwrite overwrite) {
  if (path.empty()) return;
  if (path == "-") {  // standard output, elsewhere: whoever pipes it would find a file of that name
    throw Error(Status::kUsage,
                "-: expected the name of a file, which standard output is not (a file of that name "
                "is ./-)");
  }
  check_file_name(path);
  std::error_code ignored;
  const bool there = fs::exists(path, ignored);
  if (there && overwrite == Overwrite::kNo) {
    throw Error(Status::kOutputExists, path + ": exists, and --no-clobber was given");
  }
  if (there && !fs::is_regular_file(path, ignored)) {
    throw Error(Status::kUnwritable,
                path + ": is not a regular file and cannot be replaced by one");
  }
  check_place(path);
}

}  // namespace

void check_outputs(std::span<const std::string> paths, Overwrite overwrite) {
  for (const std::string& path : paths) check_one(path, overwrite);
  remove_dead_temporaries(paths);
}
void check_output(const std::string& path, Overwrite overwrite) {
  check_outputs(std::array{path}, overwrite);
}

void check_stream(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return;
  if (S_ISDIR(info.st_mode)) {
    throw Error(Status::kUnwritable, path + ": cannot write: is a directory");
  }
  if (!S_ISFIFO(info.st_mode)) return;
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    throw Error(Status::kUnwritable, path + ": cannot write: is a pipe that nobody reads");
  }
  ::close(fd);
}

void make_folders(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!error && fs::is_directory(path, error) && !error) return;
  throw Error(write_status(error.value()),
              path + ": cannot make this folder" + (error ? " (" + error.message() + ")" : ""),
              error.value());
}

void make_folder_of(const std::string& path) {
  const std::string folder = parent_of(follow_links(path)).string();
  if (!is_there(folder)) make_folders(folder);
}

FolderOf::FolderOf(const std::string& path) {
  for (fs::path folder = parent_of(follow_links(path)); !folder.empty() && !is_there(folder);
       folder = folder.parent_path()) {
    made_.push_back(folder);
  }
  make_folder_of(path);
}

FolderOf::~FolderOf() {
  for (const fs::path& folder : made_) ::rmdir(folder.c_str());  // not where there is something
}

}  // namespace loom
