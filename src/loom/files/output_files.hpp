// SPDX-License-Identifier: BSD-3-Clause
// Names of files that will be written: which file a name means, whether two of them mean the same
// one, whether there is a place for it. Knows nothing of FITS.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/files/atomic_file.hpp"

namespace loom {

/// A file, a folder or anything else, at the end of links.
[[nodiscard]] bool is_there(const std::filesystem::path& path) noexcept;

/// Whether a name ends so, `ending` being small letters, in letters of either case: what a name
/// says of a file's format or packing it says as .FITS.GZ too.
[[nodiscard]] bool has_ending(std::string_view name, std::string_view ending) noexcept;

/// The status of a write that failed with `error` (an errno): kDiskFull where there is no room.
[[nodiscard]] Status write_status(int error) noexcept;

/// `path` with a symbolic link in its last part followed to what it leads to, there or not.
[[nodiscard]] std::string follow_links(const std::string& path);

/// Which file a name means. Equal for all names of one file: hard and symbolic links, `.` and `..`,
/// relative and absolute. A file that is not there is its nearest folder that is, and the rest.
struct FileIdentity {
  std::uint64_t device = 0, inode = 0;
  std::string rest;  ///< empty where the file is there
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
  friend bool operator<(const FileIdentity& a, const FileIdentity& b) {
    return std::tie(a.device, a.inode, a.rest) < std::tie(b.device, b.inode, b.rest);
  }
};
[[nodiscard]] FileIdentity file_identity(const std::string& path);

/// A file of a run and what names it to the user: "--json", "the image of r0-00000012".
struct NamedFile {
  std::string what, path;
};

/// Files that are all called alike.
[[nodiscard]] std::vector<NamedFile> named(const std::string& what,
                                           std::span<const std::string> paths);
[[nodiscard]] std::vector<std::string> paths_of(std::span<const NamedFile> files);

/// Throws kUsage when an output is an input or another output, whatever they are called. Empty
/// paths and "-" are no files; devices and pipes may be named as often as one likes. An input that
/// is not there stands for what is read in its place too (X.gz for X, X for X.gz).
void check_distinct(std::span<const NamedFile> outputs, std::span<const NamedFile> inputs);

/// `inputs`, and beside those that are folders the files in them whose names end so, in letters of
/// either case: what a run reads of them. Other files of such a folder may be written.
[[nodiscard]] std::vector<NamedFile> with_files_of_folders(
    std::span<const NamedFile> inputs, std::span<const std::string_view> endings);

/// Throws kUnwritable for a name that only a folder can have, as new/ or new/..: what is written
/// there would not become a file.
void check_file_name(const std::string& path);

/// Throws kUnwritable when the folder of `path` neither may be written nor can be made.
void check_place(const std::string& path);

/// check_place(), check_file_name(), and throws kOutputExists where a file is there that is to
/// stay, kUnwritable where something is there that is no regular file, kUsage for "-". Nothing for
/// an empty path. What killed runs of this machine left of it goes (remove_dead_temporaries()).
void check_output(const std::string& path, Overwrite overwrite);
/// The same of many, with one look at each folder.
void check_outputs(std::span<const std::string> paths, Overwrite overwrite);

/// Throws kUnwritable where `path` is a folder, or a pipe that nobody reads: opening that would
/// wait for ever.
void check_stream(const std::string& path);

/// The folder that a file lies in; "." where its path names none.
[[nodiscard]] std::filesystem::path parent_of(const std::string& path);

/// Makes a folder and those above it. Throws kUnwritable, kDiskFull.
void make_folders(const std::string& path);

/// Makes the folder of a file.
void make_folder_of(const std::string& path);

/// The same; those folders that it made go again with it where nothing is in them, as after a run
/// that failed. To be made before what writes there.
class FolderOf {
 public:
  explicit FolderOf(const std::string& path);
  ~FolderOf();
  FolderOf(const FolderOf&) = delete;
  FolderOf& operator=(const FolderOf&) = delete;

 private:
  std::vector<std::filesystem::path> made_;  ///< the innermost first
};

}  // namespace loom
