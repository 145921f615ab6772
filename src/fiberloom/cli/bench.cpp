// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom bench`: what this machine gives.
#include "fiberloom/cli/bench.hpp"

#include <CLI/CLI.hpp>
#include <array>

namespace fiberloom::cli {

Command make_bench(CLI::App& program) {
  CLI::App* app = program.add_subcommand("bench", "measure what this machine gives");
  app->require_subcommand(1);
  const std::array parts{add_bench_night(*app), add_bench_gpu(*app)};
  return {app, [parts] {
            for (const Command& part : parts) {
              if (part.app->parsed()) return part.run();
            }
            return 0;
          }};
}

}  // namespace fiberloom::cli
