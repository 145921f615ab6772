// SPDX-License-Identifier: BSD-3-Clause
// What options of `fiberloom extract` bring, against the truth:
// bench_refine variance|cosmics|traces|wings|neighbours|slits|grids [options]. Frames of a
// DESI-like camera of a bundle or two; truth, noise and hits are known.
#include <CLI/CLI.hpp>

#include "bench/fiberloom/refine/experiments.hpp"
#include "loom/base/error.hpp"

int main(int argc, char** argv) {
  using namespace fiberloom::bench;
  CLI::App app{"What options of fiberloom extract bring, against the truth"};
  app.require_subcommand(1);
  VarianceExperiment variance;
  CLI::App* first = app.add_subcommand("variance", "flux and its error against the level of flux");
  first->add_option("--realisations", variance.realisations)->capture_default_str();
  first->add_option("--bins", variance.nwave)->capture_default_str();
  first->add_option("--seed", variance.seed)->capture_default_str();
  CosmicExperiment cosmics;
  CLI::App* second = app.add_subcommand("cosmics", "which hits are dropped, and which lines");
  second->add_option("--frames", cosmics.frames)->capture_default_str();
  second->add_option("--bins", cosmics.nwave)->capture_default_str();
  second->add_option("--nsig", cosmics.nsig)->capture_default_str();
  second->add_option("--seed", cosmics.seed)->capture_default_str();
  TraceExperiment traces;
  CLI::App* third = app.add_subcommand("traces", "what is found of shifted traces");
  third->add_option("--frames", traces.frames)->capture_default_str();
  third->add_option("--nspec", traces.nfiber)->capture_default_str();
  third->add_option("--degree", traces.degree)->capture_default_str();
  third->add_option("--pixels", traces.pixels)->capture_default_str();
  third->add_flag("--widths", traces.widths);
  third->add_option("--seed", traces.seed)->capture_default_str();
  WingExperiment wings;
  CLI::App* fourth = app.add_subcommand("wings", "faint fibres beside a bright star");
  fourth->add_option("--frames", wings.frames)->capture_default_str();
  fourth->add_option("--bins", wings.nwave)->capture_default_str();
  fourth->add_option("--reach", wings.reach)->capture_default_str();
  fourth->add_option("--amplitude", wings.amplitude)->capture_default_str();
  fourth->add_option("--star", wings.star_e)->capture_default_str();
  fourth->add_option("--seed", wings.seed)->capture_default_str();
  NeighbourExperiment neighbours;
  CLI::App* fifth = app.add_subcommand("neighbours", "errors of neighbouring fibres");
  fifth->add_option("--realisations", neighbours.realisations)->capture_default_str();
  fifth->add_option("--nspec", neighbours.nfiber)->capture_default_str();
  fifth->add_option("--bins", neighbours.nwave)->capture_default_str();
  fifth->add_option("--crosstalk", neighbours.crosstalk)->capture_default_str();
  fifth->add_option("--seed", neighbours.seed)->capture_default_str();
  SlitExperiment slits;
  CLI::App* sixth = app.add_subcommand("slits", "bundles of 40 fibres, a fibre without a fit");
  sixth->add_option("--frames", slits.frames)->capture_default_str();
  sixth->add_option("--bins", slits.nwave)->capture_default_str();
  sixth->add_option("--crosstalk", slits.crosstalk)->capture_default_str();
  sixth->add_option("--seed", slits.seed)->capture_default_str();
  GridExperiment grids;
  CLI::App* seventh = app.add_subcommand("grids", "kinds of grids, fibres' own velocities");
  seventh->add_option("--frames", grids.frames)->capture_default_str();
  seventh->add_option("--nspec", grids.nfiber)->capture_default_str();
  seventh->add_option("--bins", grids.nwave)->capture_default_str();
  seventh->add_option("--km-s", grids.most_kms)->capture_default_str();
  seventh->add_option("--seed", grids.seed)->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    if (*first) run(variance);
    if (*second) run(cosmics);
    if (*third) run(traces);
    if (*fourth) run(wings);
    if (*fifth) run(neighbours);
    if (*sixth) run(slits);
    if (*seventh) run(grids);
  } catch (const loom::Error& error) {
    std::fprintf(stderr, "bench_refine: %s\n", error.what());
    return error.exit_code();
  }
  return 0;
}
