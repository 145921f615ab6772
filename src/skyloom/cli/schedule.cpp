// SPDX-License-Identifier: BSD-3-Clause
// `skyloom schedule`: which patch of the sky is scanned from the ground when.
#include <memory>
#include <string>

#include "loom/base/print.hpp"
#include "loom/program/console.hpp"
#include "loom/program/row_options.hpp"
#include "skyloom/cli/command.hpp"
#include "skyloom/cli/exit_codes.hpp"
#include "skyloom/recipes/schedule_option_table.hpp"

namespace skyloom::cli {
namespace {

struct ScheduleCommand {
  ScheduleOptions job;
  std::string file;
  LogOptions log;
};

int run_schedule(const ScheduleCommand& command) {
  Console console(command.log.threshold());
  const Observer observer = console.observer();
  const std::vector<NamedFile> texts{{"-o", command.file}};
  check_text_outputs(texts);
  const GroundSchedule schedule = make_schedule(command.job, observer);
  write_text(command.file, schedule_text(schedule));
  double seconds = 0;
  for (const GroundScan& scan : schedule.scans) seconds += scan.stop_s - scan.start_s;
  observer.info(print("%zu scans, %.3g hours", schedule.scans.size(), seconds / 3600));
  return 0;
}

}  // namespace

Command make_schedule_command() {
  Command command{.name = "schedule",
                  .text = "plan scans of patches of the sky from the ground",
                  .footer =
                      "Example:\n  skyloom schedule -o schedule.txt --patch deep,1,40,-40,20 "
                      "--sun-elevation 0\n\n" +
                      exit_codes_of_writer().text()};
  const auto state = std::make_shared<ScheduleCommand>();
  Options& options = command.options;
  options.add("-o,--output", &state->file, "the schedule, as TOAST reads it; - is standard output",
              {.required = true});
  add_rows(options, schedule_option_rows(), "", state->job);
  add_log_options(options, state->log);
  command.run = [state](const Invocation&) { return run_schedule(*state); };
  return command;
}

}  // namespace skyloom::cli
