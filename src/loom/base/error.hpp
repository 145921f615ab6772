// SPDX-License-Identifier: BSD-3-Clause
// The one exception of the library, and the exit codes of the program (documented in
// docs/fiberloom/formats.md).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace loom {

/// What went wrong, as the process exit code. The numbers are a contract: never renumber. Those
/// from 20 to 29 and from 80 on are the programs' own: a program names its constants beside these.
enum class Status : int {
  kOk = 0,
  kDifferent = 1,        ///< a comparison found more than it was allowed to
  kUsage = 2,            ///< wrong command line
  kSomeFailed = 3,       ///< of many tasks some failed or lack input, all others are done
  kNotFound = 10,        ///< input file missing or unreadable
  kMissingHdu = 11,      ///< an HDU that must be there is not
  kMissingKeyword = 12,  ///< a keyword or column that must be there is not
  kWrongShape = 13,      ///< an HDU of the wrong type, dimensions or size
  kCorrupt = 14,         ///< truncated or corrupted file
  kUnsupported = 15,     ///< a kind or version of a file, or an option, that is not supported
  kChanged = 16,         ///< input changed while it was read
  kUnwritable = 30,      ///< output cannot be created or written
  kDiskFull = 31,        ///< no space left (or quota) while writing
  kOutputExists = 32,    ///< output exists and --no-clobber was given
  kNumerical = 40,       ///< the equations could not be solved; nothing was written
  kInterrupted = 50,     ///< stopped by a signal
  kDevice = 60,          ///< the GPU that was asked for is not there, too small, or failed
  kMemory = 61,          ///< more memory than is granted
  kInternal = 70,        ///< a defect of the program
};

/// The text on one line: control characters, as names of files may hold them, become \n or \x1b.
[[nodiscard]] std::string one_line(std::string_view text);

/// Thrown by set-up and I/O. The message is one line: file, HDU or keyword, what was found, what
/// was expected.
class Error : public std::runtime_error {
 public:
  /// `system_error`: the errno of the call that failed, where the system refused something.
  Error(Status status, std::string_view message, int system_error = 0)
      : std::runtime_error(one_line(message)), status_(status), system_error_(system_error) {}
  [[nodiscard]] Status status() const noexcept { return status_; }
  [[nodiscard]] int exit_code() const noexcept { return static_cast<int>(status_); }
  /// 0 where it was not the system: a file's content, an option, a defect.
  [[nodiscard]] int system_error() const noexcept { return system_error_; }

 private:
  Status status_;
  int system_error_;
};

/// A short name for a status ("missing HDU"), for the table in the help text.
[[nodiscard]] std::string_view status_name(Status status) noexcept;

}  // namespace loom
