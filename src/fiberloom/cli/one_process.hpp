// SPDX-License-Identifier: BSD-3-Clause
// Commands whose work one process does, started as several by mpirun or srun.
#pragma once

#include <cstddef>
#include <string>

#include "fiberloom/foundation.hpp"
#include "loom/program/options.hpp"

namespace fiberloom::cli {

/// --mpi of such a command, as the peers have it: rank 0 works, the others end at once. `off`: each
/// process works on its own, as scripts want it that give each rank another file.
struct RankChoice {
  std::string mpi;  ///< "on", "off"; empty: not given
};
void add_rank_option(Options& options, RankChoice& choice);

/// What this process has to do.
struct RankPart {
  bool works = true;        ///< false: another rank does
  std::size_t threads = 0;  ///< where --threads is not given; 0: as ever
  std::string note;         ///< for the log; empty where there is nothing to tell
};

/// Throws kUsage in one of several processes where --mpi is not given: all would do the same work
/// and write the same files. `instead`: what shares such work among ranks.
[[nodiscard]] RankPart part_of_rank(const RankChoice& choice, const char* instead);

}  // namespace fiberloom::cli
