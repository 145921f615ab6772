// SPDX-License-Identifier: BSD-3-Clause
// Was this process started as one of several, by whom, and for which MPI? Reads the environment
// only: opening MPI in a process that no launcher started costs a quarter of a second and fails on
// some login nodes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loom/runtime/thread_count.hpp"

namespace loom {

enum class MpiChoice { kAuto, kOn, kOff, kOpenMpi, kMpich };

/// What the launcher left in the environment.
struct Launch {
  int size = 1;                      ///< processes it started; 0: it does not say
  int rank = 0;                      ///< which of them this is
  std::vector<std::string> vendors;  ///< modules to try, in order; empty: no MPI launch
  std::string launcher;              ///< "mpirun of Open MPI", for messages
  /// srun started several tasks without any MPI plugin: each would take itself for the only one.
  bool stray_tasks = false;
};

[[nodiscard]] Launch find_launch(const Environment& environment);

/// Is this one of several processes of one launch? Then `rank` tells which.
[[nodiscard]] bool is_one_of_several(const Launch& launch) noexcept;

/// What to do with that: no value, no MPI. Throws kUsage for stray tasks under kAuto and kOn, and
/// when kOn finds no launcher's traces (one rank is then meant: `vendors` names every module).
[[nodiscard]] std::optional<Launch> decide_launch(const Environment& environment, MpiChoice choice);

}  // namespace loom
