// SPDX-License-Identifier: BSD-3-Clause
// A file that appears under its name only when it is whole. Knows nothing of FITS.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace loom {

/// What to do when the output is there already.
enum class Overwrite { kYes, kNo };

/// Is a file to be there, whole, after the machine has lost its power?
enum class Durable {
  kYes,
  kNo,  ///< what is made again where it is lost or empty then: no fsync
};

class FilesTogether;

/// Writes to a file without a name where the file system has such (a process that is killed leaves
/// nothing then), else to a temporary name beside `path`; commit() makes it durable and gives it
/// its name. Destroyed without commit(), it leaves what was there before untouched and nothing
/// else. Where `path` is a symbolic link, the file that it leads to is written, there or not. A
/// character device (/dev/null) is written directly. Throws kOutputExists, kUnwritable, kDiskFull.
class AtomicFile {
 public:
  AtomicFile(std::string path, Overwrite overwrite, Durable durable = Durable::kYes);
  ~AtomicFile();
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// The temporary name, for a library that opens files itself: asked for before anything is
  /// written. It may write there until commit(). Of a device the device.
  [[nodiscard]] const std::string& place();
  void write_at(std::uint64_t offset, std::span<const std::uint8_t> bytes);
  /// fsync, link or rename, fsync of the folder (without them where it need not be durable). With
  /// Overwrite::kNo an output that appeared meanwhile is not replaced (kOutputExists).
  void commit();
  /// The same in two steps: nothing can go wrong with its bytes after the first one, and its name
  /// it gets from `together`, with the others that are there. Null: at once.
  void commit(FilesTogether* together);

 private:
  friend class FilesTogether;
  enum class Place { kNamed, kNameless, kDevice };
  enum class Naming { kFinal, kTemporary };
  void open_temporary();
  void open_named();
  [[nodiscard]] int link_to(const std::string& name) const;
  void flush();
  void let_go();
  void close();
  void give_name();
  void name_it(Naming naming);
  void publish();

  std::string path_;  ///< as given, for messages
  std::string target_, temporary_;
  Overwrite overwrite_;
  Durable durable_;
  Place place_ = Place::kNamed;
  int fd_ = -1;
};

/// Files that are of use together alone: none has its name before all of them are whole on the
/// disk. Destroyed without commit(), it leaves what was there before untouched, as each of them.
/// However many they are, kMostOpen of them are open: the others wait with a temporary name.
class FilesTogether {
 public:
  /// Gives them their names, in the order in which they came. Throws as AtomicFile::commit(); where
  /// one cannot have its name, those that had none before go again.
  void commit();

  static constexpr std::size_t kMostOpen = 32;

 private:
  friend class AtomicFile;
  std::vector<AtomicFile> files_;
};

/// A small file, whole: to a device or a pipe as it is, else by way of an AtomicFile.
void write_whole(const std::string& path, std::string_view text, Overwrite overwrite,
                 Durable durable = Durable::kYes);

/// A name beside `path` that tells who writes it, and is new at each call in this process.
[[nodiscard]] std::string temporary_name(const std::string& path);
/// Those of `path` whose writers were processes of this machine that are gone: files or folders.
[[nodiscard]] std::vector<std::string> dead_temporaries(const std::string& path);

/// Removes the temporaries of these files whose writers were processes of this machine that are
/// gone. Those of other machines stay: nothing tells whether they are still written.
void remove_dead_temporaries(std::span<const std::string> paths);

}  // namespace loom
