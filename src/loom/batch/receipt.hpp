// SPDX-License-Identifier: BSD-3-Clause
// What is known of a task that was done, or that failed: small JSON files beside the outputs.
// "Done" is a fact about the outputs: there, as they were written, from these inputs and options,
// by this version.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "loom/batch/run_folder.hpp"
#include "loom/batch/task.hpp"

namespace loom::batch {

/// A file as it was at one moment.
struct FileStamp {
  std::string path;
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// nullopt when there is no such regular file. The path is kept as given.
[[nodiscard]] std::optional<FileStamp> stamp_file(const std::string& path);

/// The files that a task is made of, as they are now (absolute names, X or X.gz); `missing` names
/// those that are not there, of Task::any_inputs the first where none is.
struct InputStamps {
  std::vector<FileStamp> files;
  /// When content or owner changed last, by the file system's own clock: nobody can set it back, so
  /// it tells of content that was replaced under the same size and time. Receipts do without: a
  /// file that was merely renamed or linked is no reason to do a task again.
  std::vector<std::int64_t> changed_ns;
  std::vector<std::string> missing;
  friend bool operator==(const InputStamps&, const InputStamps&) = default;
};
[[nodiscard]] InputStamps stamp_inputs(const Task& task);

/// What was found of files, for who asks for the inputs of many tasks at a time: a file that a
/// thousand of them are made of is looked at once.
class StampCache {
 public:
  struct Found {
    FileStamp stamp;
    std::int64_t changed_ns = 0;
  };
  /// Of X or X.gz, whichever is there; nullopt where none is.
  [[nodiscard]] const std::optional<Found>& of(const std::string& path);

 private:
  std::unordered_map<std::string, std::optional<Found>> known_;
};
[[nodiscard]] InputStamps stamp_inputs(const Task& task, StampCache& cache);

/// A file that a task made.
struct MadeFile {
  FileStamp stamp;  ///< path below OUT
  std::uint32_t crc32 = 0;
};

/// Which task, done how: the same members in receipts and failures.
struct TaskRecord {
  std::string name;
  std::vector<Label> labels;
  std::string version, options;
  std::vector<FileStamp> inputs;
  int attempts = 1;
  std::vector<Attempt> history;  ///< the last ones, oldest first; none in records of early versions
};

struct Receipt : TaskRecord {
  MadeFile output;             ///< outputs.front()
  std::vector<MadeFile> more;  ///< the other outputs
  /// CRC-32 of each input, where Task::by_content asks for them; else none.
  std::vector<std::uint32_t> input_sums;
  StageTime read, compute, write;
  std::vector<Measure> measures;  ///< none in receipts of early versions
  std::optional<FileStamp> page;  ///< where one was made
};

struct Failure : TaskRecord {
  std::vector<std::int64_t> changed_ns;  ///< of InputStamps; empty in records of early versions
  std::string message;
  int exit_code = 0;
  int system_error = 0;  ///< errno, where the system refused something
  // attempts: in all runs
};

[[nodiscard]] std::string to_json(const Receipt& receipt, const RunFolder& folder);
[[nodiscard]] std::string to_json(const Failure& failure, const RunFolder& folder);
/// What the folder knows of the task; nullopt when that is nothing, or none of ours.
[[nodiscard]] std::optional<Receipt> read_receipt(const RunFolder& folder, const std::string& name);
[[nodiscard]] std::optional<Failure> read_failure(const RunFolder& folder, const std::string& name);
/// An attempt that has come to this just now.
[[nodiscard]] Attempt attempt_of(const Outcome& outcome);
/// What the folder knows of attempts at the task, those of this run that failed (Outcome::tried),
/// and this one.
[[nodiscard]] std::vector<Attempt> history_of(const RunFolder& folder, const std::string& name,
                                              const Outcome& outcome);
/// All that the folder knows, in no order.
[[nodiscard]] std::vector<Receipt> read_receipts(const RunFolder& folder);
[[nodiscard]] std::vector<Failure> read_failures(const RunFolder& folder);

}  // namespace loom::batch
