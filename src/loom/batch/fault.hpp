// SPDX-License-Identifier: BSD-3-Clause
// What follows from a task's failure: the one rule of threads, ranks and later runs. Knows errors,
// not who met them.
#pragma once

#include <exception>
#include <string>

#include "loom/base/error.hpp"
#include "loom/batch/run_folder.hpp"
#include "loom/batch/work_kind.hpp"

namespace loom::batch {

/// What was thrown, as the error of the task `name`; what the system said is kept
/// (Error::system_error).
[[nodiscard]] Error to_error(const std::exception_ptr& thrown, const std::string& name);

enum class Fault {
  kInput,    ///< what the files hold, or the options: it will fail again, so it goes to quarantine
  kMachine,  ///< memory, permissions, disks, devices: it may well not fail again
};

/// Whose fault it was, by exit code and errno, as failure records keep them.
[[nodiscard]] Fault fault_of(Status status, int system_error) noexcept;
[[nodiscard]] inline Fault fault_of(const Error& error) noexcept {
  return fault_of(error.status(), error.system_error());
}

/// Would every other task fail as this one of `kind` did? Then going on only makes more failures,
/// and the run ends. Writes a small file to see whether the run folder takes any.
[[nodiscard]] bool ends_run(const Error& error, const WorkKind& kind, const RunFolder& folder);

}  // namespace loom::batch
