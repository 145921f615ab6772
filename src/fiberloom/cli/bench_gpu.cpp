// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom bench gpu`: the device engine on a simulated camera, beside the card's limits.
#include <array>
#include <memory>

#include "fiberloom/bench/gpu_bench.hpp"
#include "fiberloom/cli/bench.hpp"
#include "fiberloom/cli/exit_codes.hpp"
#include "loom/program/console.hpp"
#include "loom/program/standard_output.hpp"

namespace fiberloom::cli {
namespace {

constexpr int kPartFailed = 1;

struct GpuBench {
  GpuBenchOptions options;
  double memory_gb = 0;
  std::string json;
};

int run_gpu_bench(GpuBench& c) {
  check_text_outputs(std::array<NamedFile, 1>{{{"--json", c.json}}});
  c.options.memory_bytes = static_cast<std::size_t>(c.memory_gb * 1e9);
  const GpuBenchResult result = run_gpu_bench(c.options);
  if (c.json != "-") put(gpu_bench_table(result));
  if (!c.json.empty()) write_text(c.json, gpu_bench_json(result) + "\n");
  for (const std::string& f : result.failures) print_error(kProgram, "bench gpu: " + f);
  return result.failures.empty() ? 0 : kPartFailed;
}

}  // namespace

Command make_bench_gpu() {
  Command command{
      .name = "gpu",
      .text = "extraction and scans for redshifts on a card, beside its limits",
      .footer =
          "Runs on the first card (CUDA_VISIBLE_DEVICES chooses). Exit code 1 when a part could "
          "not be\n"
          "measured.\n\nExample:\n  fiberloom bench gpu --json bench.json\n\n" +
          exit_codes_of({.writes = true, .more = {Status::kDevice}})};
  const auto c = std::make_shared<GpuBench>();
  GpuBenchOptions& o = c->options;
  Options& options = command.options;
  const auto add = [&](const char* name, OptionSlot slot, const char* text, Interval interval) {
    options.add(name, std::move(slot), text, {.interval = interval, .shows_default = true});
  };
  add("--fibers", &o.fibers, "fibres of the simulated r camera", between(1, 500));
  add("--bins", &o.bins, "bins of 0.8 Angstrom", between(2, 2326));
  options.flag("--awake", &o.awake,
               "ask for the card's end without a pause, to see what waiting asleep costs");
  options.flag("--defects", &o.defects, "dead columns and blocks, saturated rows, a bad amplifier");
  add("--repeats", &o.repeats, "of one frame alone, after one to warm up", between(1, 1000));
  add("--frames", &o.frames, "frames with copies and compute overlapped; 0: none",
      between(0, 100000));
  add("--frames-in-flight", &o.frames_in_flight, "of them at a time", between(1, 64));
  add("--patches", &o.baseline_patches, "of the peers' dense algebra; 0: none",
      between(0, 1000000));
  add("--targets", &o.scan_targets, "of the scan for redshifts; 0: none", between(0, 100000));
  add("--redshifts", &o.scan_redshifts, "of its templates together", between(100, 1000000));
  options.add("--gpu-memory", &c->memory_gb,
              "GB of the card that may be used; default: most of what is free",
              {.interval = above(0)});
  // "emulate" is for tests: the device's algorithm on the CPU
  options.choice<Backend>("--backend", &o.backend,
                          {{"cuda", Backend::kCuda}, {"emulate", Backend::kEmulate}},
                          "what computes", {.value = "cuda"});
  options.add("--json", &c->json, "write the same as JSON (- is stdout)");
  options.group("Running");
  add_thread_option(options, o.threads);
  command.run = [c](const Invocation&) { return run_gpu_bench(*c); };
  return command;
}

}  // namespace fiberloom::cli
