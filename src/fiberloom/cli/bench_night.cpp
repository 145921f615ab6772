// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom bench night`: what this machine gives, on an exposure of its own making.
#include "fiberloom/recipes/night/bench_night.hpp"

#include <unistd.h>

#include <array>
#include <filesystem>
#include <memory>

#include "fiberloom/cli/bench.hpp"
#include "fiberloom/cli/device_options.hpp"
#include "fiberloom/cli/exit_codes.hpp"
#include "fiberloom/recipes/version.hpp"
#include "loom/base/print.hpp"
#include "loom/json/json.hpp"
#include "loom/program/console.hpp"
#include "loom/program/heap.hpp"
#include "loom/program/standard_output.hpp"
#include "loom/simd/isa.hpp"

namespace fiberloom::cli {
namespace {

struct NightBench {
  night::BenchJob job;
  std::string where, json, trace;
  DeviceChoice device;
  bool keep = false, gz = false, compress = false, copies = false, no_baseline = false;
  LogOptions log;
};

/// Removes the folder when done with it.
class WorkFolder {
 public:
  WorkFolder(const std::string& where, bool keep) : keep_(keep) {
    const std::filesystem::path base =
        where.empty() ? std::filesystem::temp_directory_path() : std::filesystem::path(where);
    path_ = (base / ("fiberloom-bench-" + std::to_string(::getpid()))).string();
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  ~WorkFolder() {
    std::error_code ignored;
    if (!keep_) std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool keep_;
};

std::string bench_json(const night::BenchReport& r, const night::BenchJob& job,
                       const Engine& engine) {
  const night::NightReport& n = r.night;
  Json json = {{"program", "fiberloom bench night"},
               {"version", version()},
               {"isa", isa_name(active_isa())},
               {"on_card", engine.device() != nullptr},
               {"frames", job.frames},
               {"nspec", job.nspec},
               {"input", job.input == night::Compress::kYes ? "fits.gz" : "fits"},
               {"output", job.output == night::Compress::kYes ? "fits.gz" : "fits"},
               {"distinct_images", job.replicas == night::Replicas::kLinks ? 3 : job.frames},
               {"page_cache", "warm: inputs were just written"},
               {"threads", n.pipeline.threads},
               {"readers", n.pipeline.readers},
               {"writers", n.pipeline.writers},
               {"wall_s", n.wall_s},
               {"cpu_s", n.cpu_s},
               {"frames_per_node_hour", r.frames_per_node_hour},
               {"core_s_per_frame", r.core_s_per_frame},
               {"overlap", r.overlap},
               {"one_processor_wall_s", r.baseline_wall_s},
               {"parallel_efficiency", r.parallel_efficiency},
               {"compute_speedup", r.compute_speedup},
               {"peak_memory_bytes", n.peak_memory_bytes}};
  for (const auto& [band, k] : r.kinds) {
    json["kinds"][band] = {{"frames", k.frames},
                           {"bundles", k.bundles},
                           {"read_core_s", k.read_core_s},
                           {"compute_core_s", k.compute_core_s},
                           {"write_core_s", k.write_core_s},
                           {"bytes_in", k.bytes_in},
                           {"bytes_out", k.bytes_out}};
  }
  return json.dump(2) + "\n";
}

void print_report(const night::BenchReport& r, const night::BenchJob& job) {
  const night::NightReport& n = r.night;
  put(print(
      "%d frames of %d fibres on %zu threads: %.2f s, %.3g frames a minute, %.0f a node-hour, %.2f "
      "core-s a frame\n",
      job.frames, job.nspec, n.pipeline.threads, n.wall_s, r.frames_per_node_hour / 60,
      r.frames_per_node_hour, r.core_s_per_frame));
  put("band  read core-s  compute core-s  write core-s     MB in    MB out\n");
  for (const auto& [band, k] : r.kinds) {
    put(print("%4s %12.3f %15.3f %13.3f %9.1f %9.1f\n", band.c_str(), k.read_core_s,
              k.compute_core_s, k.write_core_s, k.bytes_in / 1e6, k.bytes_out / 1e6));
  }
  put(print("overlap: wall / longest stage %.3f\n", r.overlap));
  if (r.baseline_wall_s > 0) {
    put(print("one processor: %.2f s, parallel efficiency %.3f, compute part %.2f times as fast\n",
              r.baseline_wall_s, r.parallel_efficiency, r.compute_speedup));
  }
  put(print("%s of three simulated images, page cache warm\n",
            job.replicas == night::Replicas::kLinks ? "links" : "copies"));
}

int run_night_bench(NightBench& command) {
  Console console(command.log.threshold());
  const Observer observer = console.observer();
  night::BenchJob& job = command.job;
  if (command.gz) job.input = night::Compress::kYes;
  if (command.compress) job.output = night::Compress::kYes;
  if (command.copies) job.replicas = night::Replicas::kCopies;
  if (command.no_baseline) job.baseline = night::Baseline::kNone;
  const std::array<NamedFile, 2> texts{{{"--json", command.json}, {"--trace", command.trace}}};
  check_distinct(texts, {});
  check_text_outputs(texts);
  return_large_blocks();
  const Engine engine = open_engine(command.device, Method::kExact, observer);
  const WorkFolder folder(command.where, command.keep);
  job.folder = folder.path();
  Tracer tracer(!command.trace.empty());
  const night::BenchReport report = night::bench_night(job, engine, observer, &tracer);
  if (command.json != "-") print_report(report, job);
  if (!command.json.empty()) write_text(command.json, bench_json(report, job, engine));
  if (!command.trace.empty()) write_text(command.trace, tracer.chrome_json());
  return 0;
}

}  // namespace

Command make_bench_night() {
  Command command{
      .name = "night",
      .text = "simulate an exposure, extract it, tell rates, stages, overlap and efficiency",
      .footer =
          "Six frames before the clock starts warm the machine up. Each run has as many processors "
          "as\n"
          "threads, the first ones of its affinity mask: where these are two halves of one core, "
          "choose\n"
          "others with taskset.\n\nExample:\n  fiberloom bench night --frames 30 --json "
          "bench.json\n\n" +
          exit_codes_of({.writes = true, .more = {Status::kInterrupted, Status::kDevice}})};
  const auto state = std::make_shared<NightBench>();
  night::BenchJob& job = state->job;
  Options& options = command.options;
  options.add("--frames", &job.frames, "frames of b, r and z in turn, 30 an exposure",
              {.interval = between(1, 100000), .shows_default = true});
  options.add("--nspec", &job.nspec, "fibres that are lit and extracted",
              {.interval = between(1, 500), .shows_default = true});
  options.add("--seed", &job.seed, "of the simulation", {.shows_default = true});
  options.flag("--gz", &state->gz, "inputs are .fits.gz");
  options.flag("--compress", &state->compress, "write .fits.gz");
  options.flag("--copies", &state->copies,
               "copies of the simulated images instead of links: more of the page cache");
  options.flag("--no-baseline", &state->no_baseline, "do not run it again on one processor");
  options.add("--folder", &state->where, "where to work; default: the temporary folder");
  options.flag("--keep", &state->keep, "leave the files behind");
  options.add("--json", &state->json, "write it all (- is stdout)");
  options.add("--trace", &state->trace, "write a timeline for Perfetto");
  options.group("Running");
  add_thread_option(options, job.pipeline.threads);
  add_device_options(options, state->device);
  add_log_options(options, state->log);
  command.run = [state](const Invocation&) { return run_night_bench(*state); };
  return command;
}

}  // namespace fiberloom::cli
