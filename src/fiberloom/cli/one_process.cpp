// SPDX-License-Identifier: BSD-3-Clause
// No MPI here: who this is stands in the environment, and nobody waits for anybody.
#include "fiberloom/cli/one_process.hpp"

#include "loom/base/error.hpp"
#include "loom/runtime/launch.hpp"
#include "loom/runtime/thread_count.hpp"

namespace fiberloom::cli {

void add_rank_option(Options& options, RankChoice& choice) {
  options.add("--mpi", &choice.mpi,
              "under mpirun or srun: rank 0 does it all, the others end at once; off: each process "
              "works on its own",
              {.value = "[on|off]", .words = {"on", "off"}, .if_alone = "on"});
}

RankPart part_of_rank(const RankChoice& choice, const char* instead) {
  const Environment environment = process_environment();
  const Launch launch = find_launch(environment);
  if (choice.mpi == "off" || !is_one_of_several(launch)) return {};
  const std::string who = "rank " + std::to_string(launch.rank) +
                          (launch.size > 0 ? " of " + std::to_string(launch.size) : "");
  if (choice.mpi.empty()) {
    throw Error(Status::kUsage,
                "started by " + launch.launcher + " as " + who + ": each rank would do the same; " +
                    instead + "; --mpi lets rank 0 do it alone, --mpi off each process its own");
  }
  RankPart part;
  part.works = launch.rank == 0;
  part.threads = thread_count_of_all_ranks(find_thread_limits(environment));
  part.note = who + " works alone on " + std::to_string(part.threads) +
              " threads of its own machine, the others have ended; " + instead;
  return part;
}

}  // namespace fiberloom::cli
