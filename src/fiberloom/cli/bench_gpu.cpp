// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom bench gpu`: the device engine on a simulated camera, beside the card's limits.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "fiberloom/cli/bench.hpp"
#include "fiberloom/cli/device_options.hpp"
#include "fiberloom/pipeline/gpu/gpu_bench.hpp"

namespace fiberloom::cli {
namespace {

struct BenchCommand {
  GpuBenchOptions options;
  double memory_gb = 0;
  std::string backend = "cuda", json;
};

int run_bench(BenchCommand& c) {
  c.options.backend = c.backend == "emulate" ? Backend::kEmulate : Backend::kCuda;
  c.options.memory_bytes = static_cast<std::size_t>(c.memory_gb * 1e9);
  const GpuBenchResult result = run_gpu_bench(c.options);
  std::cout << gpu_bench_table(result) << std::flush;
  if (!c.json.empty()) write_text(c.json, gpu_bench_json(result) + "\n");
  return 0;
}

}  // namespace

Command add_bench_gpu(CLI::App& bench) {
  CLI::App* gpu = bench.add_subcommand("gpu", "the CUDA engine, beside the limits of the card");
  const auto c = std::make_shared<BenchCommand>();
  GpuBenchOptions& o = c->options;
  gpu->add_option("--fibers", o.fibers, "fibres of the simulated r camera")->capture_default_str();
  gpu->add_option("--bins", o.bins, "bins of 0.8 Angstrom")->capture_default_str();
  gpu->add_option("--frames", o.frames, "frames with copies and compute overlapped; 0: none")
      ->capture_default_str();
  gpu->add_option("--frames-in-flight", o.frames_in_flight, "of them at a time")
      ->capture_default_str();
  gpu->add_option("--patches", o.baseline_patches, "of the peers' dense algebra; 0: none")
      ->capture_default_str();
  gpu->add_option("--gpu-memory", c->memory_gb, "GB of the card that may be used");
  gpu->add_option("--backend", c->backend, "")
      ->check(CLI::IsMember({"cuda", "emulate"}))
      ->group("");
  gpu->add_option("--json", c->json, "write the same as JSON (- is stdout)");
  add_thread_option(*gpu, o.threads);
  gpu->footer("Example:\n  fiberloom bench gpu --json bench.json\n\n");
  return {gpu, [c] { return run_bench(*c); }};
}

}  // namespace fiberloom::cli
