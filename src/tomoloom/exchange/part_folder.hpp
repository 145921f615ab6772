// SPDX-License-Identifier: BSD-3-Clause
// A folder of files that appears when it is whole. Knows nothing of what the files hold.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

#include "loom/files/atomic_file.hpp"
#include "tomoloom/exchange/block_record.hpp"

namespace tomoloom {

/// What such folders hold: "slices", and whether a path in one, relative to it, is of that kind.
/// Nothing else is ever removed.
struct FolderContent {
  const char* what = "";
  bool (*owns)(const std::filesystem::path& relative, bool is_folder) = nullptr;
};

/// Whether a file is there, or a folder with one in it or below; a folder of folders alone holds
/// nothing that could be lost.
[[nodiscard]] bool holds_files(const std::string& path);

class PartFolder {
 public:
  /// With `making` as VolumeWriter has it: the unfinished folder is FOLDER.part, its record
  /// FOLDER.part.done; else it has a name that tells who writes it, and what killed runs of this
  /// machine left goes. A folder that is there is replaced where it holds `content` alone. Throws
  /// kOutputExists (it holds something else, or is not to be replaced), kUnwritable, kDiskFull.
  PartFolder(const std::string& folder, Overwrite overwrite, const FolderContent& content,
             const std::optional<std::string>& making);
  ~PartFolder();
  PartFolder(const PartFolder&) = delete;
  PartFolder& operator=(const PartFolder&) = delete;

  /// Slices that an earlier run has left.
  [[nodiscard]] std::size_t slices_done() const;
  [[nodiscard]] bool done(std::size_t first, std::size_t count) const;
  /// A file in the unfinished folder, of pieces one behind the other; folders above it are made.
  /// Throws kUnwritable, kDiskFull, as do the others.
  void put(const std::string& name,
           std::initializer_list<std::span<const std::uint8_t>> pieces) const;
  /// All files of these slices are put: with a record they reach the disk, and are told of.
  void wrote(std::size_t first, std::size_t count);
  /// The folder gets its name.
  void commit();
  void discard();

 private:
  void remove_dead_parts() const;
  void make_part(bool stays);
  void close() noexcept;
  void sync() const;

  std::string given_, folder_, part_;
  Overwrite overwrite_;
  FolderContent content_;
  std::optional<BlockRecord> record_;
  int fd_ = -1;  ///< of the unfinished folder; locks it
};

}  // namespace tomoloom
