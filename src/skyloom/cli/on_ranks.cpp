// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/cli/on_ranks.hpp"

#include <exception>

#include "loom/program/rank_options.hpp"
#include "loom/runtime/launch.hpp"
#include "loom/runtime/ranks_module.hpp"
#include "loom/runtime/stop_signal.hpp"
#include "loom/runtime/usage.hpp"
#include "skyloom/cli/command.hpp"

namespace skyloom::cli {

int on_ranks(const std::string& mpi, const LogOptions& log,
             const std::function<void(Console& console, RankCompany* company,
                                      const RankFacts& facts)>& work) {
  const auto launch = decide_launch(process_environment(), mpi_choice(mpi));
  if (!launch) {
    Console console(log.threshold());
    work(console, nullptr, {});
    return 0;
  }
  const double before = process_seconds();
  const auto ranks = open_ranks(*launch, process_environment());
  catch_stop_signals();  // MPI may have put its own handlers there
  RankFacts facts{.size = static_cast<std::size_t>(ranks->size()),
                  .library = ranks->library(),
                  .open_s = process_seconds() - before};
  Console console(ranks->rank() == 0 ? log.threshold() : LogLevel::kError);
  try {
    RankCompany company(*ranks);
    work(console, ranks->size() > 1 ? &company : nullptr, facts);
    ranks->finish();
  } catch (const std::exception&) {
    abort_ranks(kProgram, *ranks, std::current_exception());
  }
  return 0;
}

}  // namespace skyloom::cli
