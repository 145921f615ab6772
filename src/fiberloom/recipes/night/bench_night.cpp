// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/night/bench_night.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "fiberloom/recipes/simulate_camera.hpp"
#include "loom/base/error.hpp"
#include "loom/files/atomic_file.hpp"
#include "loom/files/gzip.hpp"
#include "loom/files/input_file.hpp"
#include "loom/runtime/affinity.hpp"
#include "loom/runtime/executors.hpp"
#include "loom/runtime/usage.hpp"

namespace fiberloom::night {
namespace {

namespace fs = std::filesystem;
constexpr const char* kBands[] = {"b", "r", "z"};
constexpr int kCamerasOfBand = 10;
constexpr int kFramesToWarmUp = 6;

std::string numbered(const std::string& start, int number) {
  char digits[16];
  std::snprintf(digits, sizeof digits, "%08d", number);
  return start + digits;
}

/// A hard link, or a copy where that is wanted or links are not to be had.
void replicate(const fs::path& from, const fs::path& to, Replicas replicas) {
  std::error_code failed;
  if (replicas == Replicas::kLinks) fs::create_hard_link(from, to, failed);
  if (replicas == Replicas::kLinks && !failed) return;
  fs::copy_file(from, to, failed);
  if (failed) throw Error(Status::kUnwritable, to.string() + ": " + failed.message());
}

void pack(const fs::path& from, const fs::path& to) {
  const InputFile file(from.string());
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(file.size()));
  bytes.resize(file.read(0, bytes));
  AtomicFile packed(to.string(), Overwrite::kYes);
  packed.write_at(0, gzip(bytes));
  packed.commit();
}

/// FOLDER/simulated: a frame of each band, and its PSF.
void simulate_bands(const BenchJob& job, const Observer& observer) {
  const fs::path folder(job.folder);
  SimulateJob simulate;
  simulate.directory = (folder / "simulated").string();
  simulate.cameras = {"b0", "r0", "z0"};
  simulate.nspec = job.nspec;
  simulate.seed = job.seed;
  const auto executor = make_executor(job.pipeline.threads);
  static_cast<void>(simulate_cameras(simulate, *executor, observer));
  for (const char* band : kBands) {
    const fs::path image =
        folder / "simulated" / (numbered(std::string("preproc-") + band + "0-", 1) + ".fits");
    if (job.input == Compress::kYes) pack(image, image.string() + ".gz");
  }
}

/// FOLDER/TREE/20260101/EXPID/preproc-CAM-EXPID.fits[.gz], psf-CAM.fits.
void make_exposures(const BenchJob& job, const std::string& tree, int frames) {
  const fs::path folder(job.folder);
  const std::string ending = job.input == Compress::kYes ? ".fits.gz" : ".fits";
  for (int i = 0; i < frames; ++i) {
    const std::string band = kBands[i % 3];
    const int exposure = 1 + i / (3 * kCamerasOfBand);
    const std::string camera = band + std::to_string(i / 3 % kCamerasOfBand);
    const fs::path place = folder / tree / "20260101" / numbered("", exposure);
    fs::create_directories(place);
    replicate(folder / "simulated" / (numbered("preproc-" + band + "0-", 1) + ending),
              place / (numbered("preproc-" + camera + "-", exposure) + ending), job.replicas);
    replicate(folder / "simulated" / ("psf-" + band + "0.fits"),
              place / ("psf-" + camera + ".fits"), job.replicas);
  }
}

/// On `threads` threads and as many processors: those that read and write share them.
NightReport run(const BenchJob& job, const Engine& engine, const std::string& tree, int frames,
                const std::string& output, std::size_t threads, const Observer& observer,
                Tracer* tracer) {
  NightJob night;
  night.request.input = job.folder + "/" + tree;
  night.request.output = job.folder + "/" + output;
  night.request.compress = job.output;
  night.request.job.options.nspec = job.nspec;
  night.pipeline = job.pipeline;
  night.pipeline.threads = threads;
  const Confinement processors(threads);
  night.pipeline.start = std::chrono::steady_clock::now();
  const double cpu_before = cpu_seconds();
  NightReport report = run_night(night, engine, observer, {}, tracer);
  report.cpu_s -= cpu_before;
  if (report.counts.done == static_cast<std::size_t>(frames)) return report;
  if (report.end.fatal) throw *report.end.fatal;
  throw Error(Status::kNumerical, job.folder + ": only " + std::to_string(report.counts.done) +
                                      " of " + std::to_string(frames) + " frames were made");
}

void add_kinds(const NightReport& night, std::map<std::string, BenchKind>& kinds) {
  for (std::size_t i = 0; i < night.tasks.size(); ++i) {
    const Outcome& o = night.outcomes[i];
    BenchKind& kind = kinds[frame_of(night.tasks[i]).camera.substr(0, 1)];
    ++kind.frames;
    kind.bundles = o.parts;
    kind.read_core_s += o.read.cpu_s;
    kind.compute_core_s += o.compute.cpu_s;
    kind.write_core_s += o.write.cpu_s;
    kind.bytes_in += static_cast<double>(o.bytes_in);
    kind.bytes_out += static_cast<double>(o.bytes_out);
  }
  for (auto& [band, kind] : kinds) {
    for (double* sum : {&kind.read_core_s, &kind.compute_core_s, &kind.write_core_s, &kind.bytes_in,
                        &kind.bytes_out}) {
      *sum /= kind.frames;
    }
  }
}

double longest_stage(const NightReport& night) {
  const auto each = [](double seconds, std::size_t threads) {
    return seconds / static_cast<double>(std::max<std::size_t>(threads, 1));
  };
  const StageLoad& load = night.load;
  return std::max({each(night.cpu_s, load.threads), each(load.read_s, load.readers),
                   each(load.compute_s, load.threads), each(load.write_s, load.writers)});
}

}  // namespace

BenchReport bench_night(const BenchJob& job, const Engine& engine, const Observer& observer,
                        Tracer* tracer) {
  std::error_code ignored;
  if (fs::exists(job.folder, ignored)) {
    throw Error(Status::kOutputExists, job.folder + ": exists; the benchmark wants its own folder");
  }
  make_folders(job.folder);
  observer.info("simulating three cameras in " + job.folder);
  simulate_bands(job, observer);
  // Fresh memory is dear, on virtual machines above all: what comes first would pay for the others.
  const int few = std::min(job.frames, kFramesToWarmUp);
  const std::size_t threads = complete(job.pipeline, Packing::kNo).threads;
  make_exposures(job, "warm-up", few);
  make_exposures(job, "preproc", job.frames);
  static_cast<void>(run(job, engine, "warm-up", few, "out-warm-up", threads, observer, nullptr));
  BenchReport report;
  report.night = run(job, engine, "preproc", job.frames, "out", threads, observer, tracer);
  const NightReport& night = report.night;
  add_kinds(night, report.kinds);
  const double frames = job.frames;
  report.frames_per_node_hour = 3600 * frames / night.wall_s;
  report.core_s_per_frame = night.cpu_s / frames;
  report.overlap = night.wall_s / longest_stage(night);
  if (job.baseline == Baseline::kNone || threads < 2) return report;
  const NightReport alone =
      run(job, engine, "preproc", job.frames, "out-one-processor", 1, observer, nullptr);
  report.baseline_wall_s = alone.wall_s;
  report.parallel_efficiency = alone.wall_s / (static_cast<double>(threads) * night.wall_s);
  report.compute_speedup =
      alone.load.compute_s / (night.load.compute_s / static_cast<double>(threads));
  return report;
}

}  // namespace fiberloom::night
