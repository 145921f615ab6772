// SPDX-License-Identifier: BSD-3-Clause
// What follows from a frame's failure: the one rule of threads, ranks and later runs. Knows errors,
// not who met them.
#pragma once

#include <exception>
#include <string>

#include "fiberloom/recipes/extract_frame.hpp"
#include "fiberloom/recipes/night/run_folder.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::night {

/// What was thrown, as the error of the frame `name`; what the system said is kept
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

/// Would every other frame fail as this one did? Then going on only makes more failures, and the
/// night ends. Writes a small file to see whether the run folder takes any. `engine`: what computed
/// it.
[[nodiscard]] bool ends_night(const Error& error, const Engine& engine, const RunFolder& folder);

}  // namespace fiberloom::night
