// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom bench gpu`: the device engine on a simulated camera, beside the card's limits.
#include <CLI/CLI.hpp>
#include <array>
#include <memory>

#include "fiberloom/bench/gpu_bench.hpp"
#include "fiberloom/cli/bench.hpp"
#include "fiberloom/cli/choice.hpp"
#include "fiberloom/cli/console.hpp"
#include "fiberloom/cli/exit_codes.hpp"
#include "fiberloom/cli/limits.hpp"
#include "fiberloom/cli/standard_output.hpp"

namespace fiberloom::cli {
namespace {

constexpr int kPartFailed = 1;

struct BenchCommand {
  GpuBenchOptions options;
  double memory_gb = 0;
  std::string json;
};

int run_bench(BenchCommand& c) {
  check_text_outputs(std::array<NamedFile, 1>{{{"--json", c.json}}});
  c.options.memory_bytes = static_cast<std::size_t>(c.memory_gb * 1e9);
  const GpuBenchResult result = run_gpu_bench(c.options);
  if (c.json != "-") put(gpu_bench_table(result));
  if (!c.json.empty()) write_text(c.json, gpu_bench_json(result) + "\n");
  for (const std::string& f : result.failures) print_error("bench gpu: " + f);
  return result.failures.empty() ? 0 : kPartFailed;
}

}  // namespace

Command add_bench_gpu(CLI::App& bench) {
  CLI::App* gpu = bench.add_subcommand("gpu", "the CUDA engine, beside the limits of the card");
  const auto c = std::make_shared<BenchCommand>();
  GpuBenchOptions& o = c->options;
  gpu->add_option("--fibers", o.fibers, "fibres of the simulated r camera")
      ->check(between(1, 500))
      ->capture_default_str();
  gpu->add_option("--bins", o.bins, "bins of 0.8 Angstrom")
      ->check(between(2, 2326))
      ->capture_default_str();
  gpu->add_option("--repeats", o.repeats, "of one frame alone, after one to warm up")
      ->check(between(1, 1000))
      ->capture_default_str();
  gpu->add_option("--frames", o.frames, "frames with copies and compute overlapped; 0: none")
      ->check(between(0, 100000))
      ->capture_default_str();
  gpu->add_option("--frames-in-flight", o.frames_in_flight, "of them at a time")
      ->check(between(1, 64))
      ->capture_default_str();
  gpu->add_option("--patches", o.baseline_patches, "of the peers' dense algebra; 0: none")
      ->check(between(0, 1000000))
      ->capture_default_str();
  gpu->add_option("--gpu-memory", c->memory_gb,
                  "GB of the card that may be used; default: most of what is free")
      ->check(positive());
  // "emulate" is for tests: the device's algorithm on the CPU
  add_choice<Backend>(*gpu, "--backend", o.backend,
                      {{"cuda", Backend::kCuda}, {"emulate", Backend::kEmulate}}, "what computes")
      ->option_text("cuda");
  gpu->add_option("--json", c->json, "write the same as JSON (- is stdout)");
  add_thread_option(*gpu, o.threads);
  gpu->footer(
      "Runs on the first card (CUDA_VISIBLE_DEVICES chooses). Exit code 1 when a part could not "
      "be\n"
      "measured.\n\nExample:\n  fiberloom bench gpu --json bench.json\n\n" +
      exit_codes_of({.writes = true, .more = {Status::kDevice}}));
  return {gpu, [c] { return run_bench(*c); }};
}

}  // namespace fiberloom::cli
