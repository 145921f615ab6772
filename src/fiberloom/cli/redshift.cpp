// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom redshift`: options -> recipe -> summary.
#include <array>
#include <chrono>
#include <memory>

#include "fiberloom/cli/exit_codes.hpp"
#include "fiberloom/cli/one_process.hpp"
#include "fiberloom/cli/redshift_json.hpp"
#include "fiberloom/cli/redshift_survey.hpp"
#include "fiberloom/recipes/redshift/find_redshifts.hpp"
#include "fiberloom/recipes/redshift/redshift_option_table.hpp"
#include "fiberloom/recipes/redshift/scan_device.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/print.hpp"
#include "loom/program/console.hpp"
#include "loom/program/heap.hpp"
#include "loom/runtime/executors.hpp"
#include "loom/simd/isa.hpp"

namespace fiberloom::cli {
namespace {

void report(const RedshiftSummary& s, const Observer& observer) {
  std::string types;
  for (const auto& [type, count] : s.types) types += print("%zu %s, ", count, type.c_str());
  observer.info(print("%zu targets: %s%zu without data; ZWARN 0: %zu", s.targets, types.c_str(),
                      s.without_data, s.sure));
  observer.info(print("read %.2f s, compute %.2f s, write %.2f s (%.2f CPU-s in all), peak %.0f MB",
                      s.read.wall_s, s.compute.wall_s, s.write.wall_s, cpu_seconds(),
                      static_cast<double>(peak_memory_bytes()) / 1e6));
}

int run_redshift(const Given& given, RedshiftCommand& command) {
  const auto start = std::chrono::steady_clock::now();
  if (survey::is_folder_name(command.job.output)) return run_redshift_survey(given, command);
  const RankChoice ranks{command.ranks.mpi == "auto"  ? ""
                         : command.ranks.mpi == "off" ? "off"
                                                      : "on"};
  const RankPart part = part_of_rank(ranks, "ranks share files where -o is a folder");
  if (!part.works) return 0;
  Console console(command.log.threshold());
  const Observer observer = console.observer();
  finish_redshift_options(given, command, observer);
  const std::array<NamedFile, 2> texts{{{"--json", command.json}, {"--trace", command.trace}}};
  check_outputs(command.job, texts);
  check_text_outputs(texts);
  return_large_blocks();         // groups come and go, of blocks that fit into no other's holes
  const Isa isa = active_isa();  // a wrong FIBERLOOM_ISA is an error before anything is read
  const auto executor = make_executor(command.threads > 0 ? command.threads : part.threads);
  Tracer tracer(!command.trace.empty());
  if (!part.note.empty()) observer.info(part.note);
  observer.info(print(
      "%s%s -> %s", command.job.inputs.front().c_str(),
      command.job.inputs.size() > 1 ? print(" and %zu more", command.job.inputs.size() - 1).c_str()
                                    : "",
      (command.job.output.empty() ? command.job.details : command.job.output).c_str()));
  observer.info(print("method %s, %zu threads (%s), instruction set %s",
                      redshift_method_name(command.job.options.method).c_str(),
                      executor->concurrency(), std::string(executor_kind()).c_str(),
                      std::string(isa_name(isa)).c_str()));
  const auto device = open_scan_device(command.device, command.job.options.method, observer);
  const RedshiftSummary summary =
      find_redshifts(command.job, *executor, observer, &tracer, device.get());
  report(summary, observer);
  if (!command.trace.empty()) write_text(command.trace, tracer.chrome_json());
  if (!command.json.empty()) {
    RunFacts facts;
    facts.options = given.texts();
    facts.threads = executor->concurrency();
    facts.executor = executor_kind();
    facts.isa = isa_name(isa);
    facts.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    write_text(command.json, redshift_json(summary, command.job, facts, device.get(), tracer));
  }
  return 0;
}

}  // namespace

Command make_redshift() {
  Command command{
      .name = "redshift",
      .text = "find what each target is, and its redshift",
      .footer =
          "Examples:\n"
          "  fiberloom redshift -i coadd-0-80613-thru20210324.fits -t redrock-templates \\\n"
          "      -o redrock-0-80613-thru20210324.fits --model model.fits\n"
          "  fiberloom redshift -i cframe-b0-00000011.fits cframe-r0-00000011.fits \\\n"
          "      -t redrock-templates -o redrock.fits\n"
          "  srun fiberloom redshift -i spectro/redux/healpix -t redrock-templates -o "
          "redshifts/\n\n" +
          exit_codes_of({.reads = true,
                         .matches = true,
                         .writes = true,
                         .more = {Status::kSomeFailed, Status::kInterrupted, Status::kDevice,
                                  kBadTemplate, kTemplateRange}})};
  const auto state = std::make_shared<RedshiftCommand>();
  add_redshift_options(command.options, *state);
  command.run = [state](const Invocation& call) { return run_redshift(call.given, *state); };
  return command;
}

}  // namespace fiberloom::cli
