// SPDX-License-Identifier: BSD-3-Clause
// What options of `fiberloom extract` bring, against the truth:
// bench_refine variance|cosmics|traces|wings|neighbours|slits|grids [options]. Frames of a
// DESI-like camera of a bundle or two; truth, noise and hits are known.
#include <CLI/CLI.hpp>
#include <memory>
#include <type_traits>

#include "bench/fiberloom/refine/experiments.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::bench {
namespace {

/// A command of that name; `add_options(command, experiment)` binds what it can be told.
template <class Experiment, class AddOptions>
void offer(CLI::App& app, const char* name, const char* text, AddOptions add_options) {
  const auto experiment = std::make_shared<Experiment>();
  CLI::App* const command = app.add_subcommand(name, text);
  const auto option = [command](const char* names, auto& value) {
    if constexpr (std::is_same_v<decltype(value), bool&>) {
      command->add_flag(names, value);
    } else {
      command->add_option(names, value)->capture_default_str();
    }
  };
  option("--seed", experiment->seed);
  add_options(option, *experiment);
  command->callback([experiment] { run(*experiment); });
}

void offer_all(CLI::App& app) {
  offer<VarianceExperiment>(app, "variance", "flux and its error against the level of flux",
                            [](auto option, auto& e) {
                              option("--realisations", e.realisations);
                              option("--bins", e.nwave);
                            });
  offer<CosmicExperiment>(app, "cosmics", "which hits are dropped, and which lines",
                          [](auto option, auto& e) {
                            option("--frames", e.frames);
                            option("--bins", e.nwave);
                            option("--nsig", e.nsig);
                          });
  offer<TraceExperiment>(app, "traces", "what is found of shifted traces",
                         [](auto option, auto& e) {
                           option("--frames", e.frames);
                           option("--nspec", e.nfiber);
                           option("--degree", e.degree);
                           option("--pixels", e.pixels);
                           option("--widths", e.widths);
                         });
  offer<WingExperiment>(app, "wings", "faint fibres beside a bright star",
                        [](auto option, auto& e) {
                          option("--frames", e.frames);
                          option("--bins", e.nwave);
                          option("--reach", e.reach);
                          option("--amplitude", e.amplitude);
                          option("--star", e.star_e);
                        });
  offer<NeighbourExperiment>(app, "neighbours", "errors of neighbouring fibres",
                             [](auto option, auto& e) {
                               option("--realisations", e.realisations);
                               option("--nspec", e.nfiber);
                               option("--bins", e.nwave);
                               option("--crosstalk", e.crosstalk);
                             });
  offer<SlitExperiment>(app, "slits", "bundles of 40 fibres, a fibre without a fit",
                        [](auto option, auto& e) {
                          option("--frames", e.frames);
                          option("--bins", e.nwave);
                          option("--crosstalk", e.crosstalk);
                        });
  offer<GridExperiment>(app, "grids", "kinds of grids, fibres' own velocities",
                        [](auto option, auto& e) {
                          option("--frames", e.frames);
                          option("--nspec", e.nfiber);
                          option("--bins", e.nwave);
                          option("--km-s", e.most_kms);
                        });
}

}  // namespace
}  // namespace fiberloom::bench

int main(int argc, char** argv) {
  CLI::App app{"What options of fiberloom extract bring, against the truth"};
  app.require_subcommand(1);
  fiberloom::bench::offer_all(app);
  try {
    CLI11_PARSE(app, argc, argv);
  } catch (const loom::Error& error) {
    std::fprintf(stderr, "bench_refine: %s\n", error.what());
    return error.exit_code();
  }
  return 0;
}
