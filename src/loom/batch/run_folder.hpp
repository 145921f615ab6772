// SPDX-License-Identifier: BSD-3-Clause
// OUT/.PROGRAM: where a run keeps what it knows of its outputs, and small text files in it.
#pragma once

#include <optional>
#include <string>

#include "loom/files/atomic_file.hpp"
#include "loom/files/output_files.hpp"

namespace loom::batch {

/// Whose run it is: names the folder, the schemas of its files, and what made an output.
struct ProgramId {
  std::string name;     ///< "fiberloom"
  std::string version;  ///< an output made by another one is made again
};

/// The folders below OUT/.PROGRAM; names are a contract (docs/fiberloom/nights.md).
class RunFolder {
 public:
  /// `output` is OUT. Makes nothing.
  RunFolder(std::string output, ProgramId program);
  /// Makes OUT and all folders below OUT/.PROGRAM. Throws kUnwritable, kDiskFull.
  void create() const;

  [[nodiscard]] const ProgramId& program() const noexcept { return program_; }
  /// "fiberloom-receipt-1" of "receipt-1".
  [[nodiscard]] std::string schema(const std::string& of) const { return program_.name + "-" + of; }
  [[nodiscard]] const std::string& output() const noexcept { return output_; }
  /// The same as an absolute path.
  [[nodiscard]] const std::string& root() const noexcept { return root_; }
  [[nodiscard]] std::string state() const { return output_ + "/." + program_.name; }
  [[nodiscard]] std::string claims() const { return state() + "/claims"; }
  [[nodiscard]] std::string runs() const { return state() + "/runs"; }
  [[nodiscard]] std::string receipts() const { return state() + "/receipts"; }
  [[nodiscard]] std::string failures() const { return state() + "/failed"; }
  [[nodiscard]] std::string options() const { return state() + "/options"; }
  [[nodiscard]] std::string receipt(const std::string& name) const;
  [[nodiscard]] std::string failure(const std::string& name) const;
  [[nodiscard]] std::string ledger() const { return state() + "/ledger.sqlite"; }
  [[nodiscard]] std::string plan() const { return state() + "/plan.jsonl"; }

 private:
  std::string output_, root_;
  ProgramId program_;
};

/// A path as receipts keep it: below OUT where it is below OUT.
[[nodiscard]] std::string path_below(const RunFolder& folder, const std::string& path);
/// The absolute path of such a one.
[[nodiscard]] std::string path_of(const RunFolder& folder, const std::string& below);

/// Replaces a small file whole (temporary name, rename). No fsync, which would take longer than all
/// other bookkeeping: a record that a loss of power leaves empty or takes away says nothing, and
/// its task is done again; outputs are on the disk before their receipts are written. Throws
/// kUnwritable, kDiskFull; kOutputExists where it must not replace one.
void write_text_file(const std::string& path, const std::string& text,
                     Overwrite overwrite = Overwrite::kYes);

/// nullopt when it is not there or cannot be read.
[[nodiscard]] std::optional<std::string> read_text_file(const std::string& path);

}  // namespace loom::batch
