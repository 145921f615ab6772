// SPDX-License-Identifier: BSD-3-Clause
// Finds and loads the module that speaks MPI, so that the program itself needs none.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "loom/runtime/launch.hpp"
#include "loom/runtime/ranks.hpp"

namespace loom {

/// Where fiberloom_mpi_<vendor>.so is looked for, in order: FIBERLOOM_MPI_MODULE (a file), beside
/// the program, ../lib/fiberloom.
[[nodiscard]] std::vector<std::string> module_candidates(const std::string& vendor,
                                                         const std::string& program_folder,
                                                         const Environment& environment);

/// Opens MPI as the launch says. Throws kUnsupported when no module can be loaded, or when the one
/// that was sees another number of processes than the launcher started (the wrong vendor's).
[[nodiscard]] std::unique_ptr<Ranks> open_ranks(const Launch& launch,
                                                const Environment& environment);

/// Version of the border between program and module; part of the entry's name.
#define FIBERLOOM_RANKS_ENTRY fiberloom_open_ranks_1
using OpenRanksFunction = Ranks*();

}  // namespace loom
