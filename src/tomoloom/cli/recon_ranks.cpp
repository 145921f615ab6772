// SPDX-License-Identifier: BSD-3-Clause
// `tomoloom recon` of one scan by all ranks of an MPI job.
#include <chrono>
#include <memory>
#include <optional>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/program/console.hpp"
#include "loom/runtime/executors.hpp"
#include "loom/runtime/ranks_module.hpp"
#include "loom/runtime/stop_signal.hpp"
#include "tomoloom/cli/recon_command.hpp"
#include "tomoloom/recipes/recon_scan.hpp"
#include "tomoloom/recipes/scans/recon_on_ranks.hpp"

namespace tomoloom::cli {

int run_one_scan_on_ranks(const ReconCommand& command, const Launch& launch) {
  const auto start = std::chrono::steady_clock::now();
  const auto ranks = open_ranks(launch, process_environment());
  catch_stop_signals();  // MPI may have put its own handlers there
  const bool first = ranks->rank() == 0;
  Console console(first ? command.log.threshold() : LogLevel::kWarning);
  const Observer observer = console.observer();
  try {
    if (first) {
      const std::vector<NamedFile> texts{{"--json", command.json}};
      check_recon_output(command.job, texts);
      check_text_outputs(texts);
    }
    const auto executor = make_executor(command.threads);
    const std::optional<scans::RanksRecon> made = scans::reconstruct_on_ranks(
        *ranks, command.job, *executor, observer, command.ranks.silence_s);
    if (made) {
      const ReconFacts facts{
          .threads = made->threads,
          .ranks = ranks->size(),
          .wall_s =
              std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
      observer.info(recon_line(made->recon, command.job, facts));
      observer.info(
          print("%d ranks on %d nodes, %s", facts.ranks, ranks->nodes(), ranks->library().c_str()));
      if (!command.json.empty()) {
        write_text(command.json, recon_json(made->recon, command.job, facts));
      }
    }
    ranks->finish();
  } catch (const std::exception&) {
    abort_ranks(kProgram, *ranks, std::current_exception());
  }
  return 0;
}

}  // namespace tomoloom::cli
