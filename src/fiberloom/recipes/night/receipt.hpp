// SPDX-License-Identifier: BSD-3-Clause
// What is known of a frame that was written, or that failed: small JSON files beside the outputs.
// "Done" is a fact about the output: there, as it was written, from these inputs and options, by
// this version.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fiberloom/recipes/extract_option_table.hpp"
#include "fiberloom/recipes/night/frame_task.hpp"
#include "fiberloom/recipes/night/run_folder.hpp"

namespace fiberloom::night {

/// A file as it was at one moment.
struct FileStamp {
  std::string path;
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// nullopt when there is no such regular file. The path is kept as given.
[[nodiscard]] std::optional<FileStamp> stamp_file(const std::string& path);

/// The files that a frame is made of, as they are now (absolute names, X or X.gz); `missing` names
/// those that are not there.
struct InputStamps {
  std::vector<FileStamp> files;
  /// When content or owner changed last, by the file system's own clock: nobody can set it back, so
  /// it tells of content that was replaced under the same size and time. Receipts do without: a
  /// file that was merely renamed or linked is no reason to make a frame again.
  std::vector<std::int64_t> changed_ns;
  std::vector<std::string> missing;
  friend bool operator==(const InputStamps&, const InputStamps&) = default;
};
[[nodiscard]] InputStamps stamp_inputs(const ExtractJob& job);

struct Receipt {
  std::string name, night, camera;
  long expid = 0;
  std::string version, options;
  FileStamp output;  ///< path below OUT
  std::uint32_t crc32 = 0;
  std::vector<FileStamp> inputs;
  StageTime read, compute, write;
  int attempts = 1;
  std::optional<FrameQuality> quality;  ///< not in receipts of earlier versions
  std::optional<FileStamp> report;      ///< its page, where one was made
};

struct Failure {
  std::string name, night, camera;
  long expid = 0;
  std::string version, options;
  std::vector<FileStamp> inputs;
  std::vector<std::int64_t> changed_ns;  ///< of InputStamps; empty in records of earlier versions
  std::string message;
  int exit_code = 0;
  int system_error = 0;  ///< errno, where the system refused something
  int attempts = 1;      ///< in all runs
};

[[nodiscard]] std::string to_json(const Receipt& receipt);
[[nodiscard]] std::string to_json(const Failure& failure);
/// nullopt when the file is not there, or is none of ours.
[[nodiscard]] std::optional<Receipt> read_receipt(const std::string& path);
[[nodiscard]] std::optional<Failure> read_failure(const std::string& path);

}  // namespace fiberloom::night
