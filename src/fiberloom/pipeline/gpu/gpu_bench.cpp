// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/pipeline/gpu/gpu_bench.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <thread>

#include "fiberloom/runtime/executors.hpp"
#include "fiberloom/simulate/exposure.hpp"
#include "fiberloom/simulate/simulated_psf.hpp"

namespace fiberloom {
namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Frame {
  PsfModel psf;
  CcdFrame ccd;
  ExtractOptions options;
};

Frame simulate(const GpuBenchOptions& o, Executor& executor) {
  SimulatedPsfOptions psf = camera_psf_options('r');
  psf.nfiber = std::min(psf.nfiber, o.fibers);
  Frame f{make_psf(psf), {}, {}};
  ExposureOptions exposure;
  exposure.nspec = psf.nfiber;
  SimulatedExposure e = simulate_exposure(f.psf, exposure, executor);
  f.options.wave = camera_wave_grid('r');
  if (o.bins < f.options.wave.size()) f.options.wave.resize(o.bins);
  f.ccd.image = PixelArray(std::move(e.frame.image));
  f.ccd.ivar = PixelArray(std::move(e.frame.ivar));
  apply_mask(f.ccd, e.frame.mask);
  return f;
}

/// Operations and bytes that a stage cannot do without, for B = 8: one fma is two operations; an
/// array that fits no cache is read or written once.
void count_work(const ExtractResult& r, std::size_t pixels, std::vector<GpuBenchStage>& stages) {
  double poles = 0;
  for (const BundleReport& b : r.bundles) poles += b.poles * static_cast<double>(b.nfiber);
  const double bins =
      static_cast<double>(r.flux.size()) * (1.0 + 96.0 / static_cast<double>(r.wave.size()));
  const double wide = 1.3;  // rows of windows with skirts, for roots
  const double pole_bins = poles * static_cast<double>(r.wave.size() + 96) * wide;
  const double image = static_cast<double>(pixels);
  for (GpuBenchStage& s : stages) {
    if (s.name == "spots") {  // Legendre series, edges, contraction; 187 values stored
      s.flops = bins * 2 * 3500;
      s.bytes = bins * 187 * 8;
    } else if (s.name == "normal equations") {  // 8 own, 17 cross products; spots in, entries out
      s.flops = bins * 2 * 2000;
      s.bytes = bins * (187 * 8 + 28 * 8) + image * 8;
    } else if (s.name == "solve") {  // per iteration: 25 + 8 products and both solves
      double iterations = 0;
      for (const BundleReport& b : r.bundles) iterations += b.cg_iterations;
      iterations = 2 + iterations / static_cast<double>(std::max<std::size_t>(r.bundles.size(), 1));
      s.flops = bins * iterations * 2 * (34 + 16 * 3);
      s.bytes = bins * iterations * 8 * (26 + 9 * 3 * 2 + 10);
    } else if (s.name == "diagnostics") {
      s.flops = bins * 2 * 2 * 187;
      s.bytes = bins * 187 * 8 * 2 + image * 16;
    } else if (s.name ==
               "sweeps") {  // two sweeps: factor, selected inverse, congruence; 4 x skirts
      s.flops = bins * 2 * 2 * (4 * (40 + 192) + 1.25 * 578);
      s.bytes = bins * 8 * 2 * (4 * (9 + 8 + 49 + 17) + 20);
    } else if (s.name == "bounds") {
      s.flops = bins * wide * 2 * (3 * 40 + 16);
      s.bytes = bins * wide * 8 * (3 * 18 + 10);
    } else if (s.name == "roots") {  // l, d, both sides out and in again; eight results out and in
      s.flops = pole_bins * 2 * 190;
      s.bytes = pole_bins * 8 * (2 * 11 + 2 * 8);
    } else if (s.name == "copy in") {
      s.bytes = image * 8;
    } else if (s.name == "copy out") {
      s.bytes = static_cast<double>(r.flux.size()) * (5 * 8 + 11 * 4);
    }
  }
}

void one_frame(const Frame& f, DeviceEngine& engine, Executor& executor, int repeats,
               GpuBenchResult& out) {
  DeviceReport report;
  out.frame_s = 1e30;
  for (int turn = 0; turn <= repeats; ++turn) {  // the first warms up
    const auto start = Clock::now();
    const ExtractResult r = engine.extract(f.ccd, f.psf, f.options, executor, {}, nullptr, &report);
    if (turn == 0) {
      out.cpu_bundles = report.cpu_bundles.size();
      continue;
    }
    out.frame_s = std::min(out.frame_s, since(start));
    for (const DeviceStageTime& t : report.stages) {
      const auto found = std::find_if(out.stages.begin(), out.stages.end(),
                                      [&](const GpuBenchStage& s) { return s.name == t.name; });
      if (found == out.stages.end()) {
        out.stages.push_back({t.name, t.seconds, t.launches, 0, 0});
      } else {
        found->seconds = std::min(found->seconds, t.seconds);
      }
    }
    if (turn == repeats) count_work(r, f.ccd.image.rows() * f.ccd.image.cols(), out.stages);
  }
  for (const GpuBenchStage& s : out.stages)
    (s.name.starts_with("copy") ? out.copies_s : out.compute_s) += s.seconds;
}

void many_frames(const Frame& f, DeviceEngine& engine, Executor& executor, const GpuBenchOptions& o,
                 GpuBenchResult& out) {
  std::atomic<int> next{0};
  const auto start = Clock::now();
  std::vector<std::thread> threads;
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(o.frames_in_flight) + 1);
  for (std::exception_ptr& error : errors) {  // one more prepares its frame meanwhile
    threads.emplace_back([&] {
      try {
        while (next++ < o.frames) (void)engine.extract(f.ccd, f.psf, f.options, executor);
      } catch (...) {
        error = std::current_exception();
        next = o.frames;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  out.overlapped_s = since(start);
  out.frames = o.frames;
  out.frames_in_flight = o.frames_in_flight;
}

void cpu_frames(const Frame& f, int frames, GpuBenchResult& out) {
  for (int i = 0; i < frames; ++i) {
    SerialExecutor serial;
    const auto start = Clock::now();
    (void)extract_exact(f.ccd, f.psf, f.options, serial);
    out.cpu_frame_s = i == 0 ? since(start) : std::min(out.cpu_frame_s, since(start));
  }
}

}  // namespace

GpuBenchResult run_gpu_bench(const GpuBenchOptions& o) {
  const auto executor = make_executor(o.threads);
  DeviceEngineOptions engine_options;
  engine_options.frames_in_flight = o.frames_in_flight;
  engine_options.memory_bytes = o.memory_bytes;
  GpuBenchResult out;
  if (o.backend == Backend::kCuda) out.rates = open_cuda_device(0)->measure_rates();
  const auto engine = make_device_engine(o.backend, engine_options);
  if (engine == nullptr) throw Error(Status::kDevice, "bench gpu: " + why_no_cuda());
  out.device = engine->info();
  const Frame f = simulate(o, *executor);
  out.fibers = f.psf.nfiber();
  out.bins = f.options.wave.size();
  // what one part cannot do must not cost what the others have measured
  const auto part = [&](const char* name, auto body) {
    try {
      body();
    } catch (const std::exception& e) {
      out.failures.push_back(std::string(name) + ": " + e.what());
    }
    if (o.done) o.done(out);
  };
  part("one frame", [&] { one_frame(f, *engine, *executor, o.repeats, out); });
  if (o.frames > 0) part("many frames", [&] { many_frames(f, *engine, *executor, o, out); });
  if (o.cpu_frames > 0) part("one CPU core", [&] { cpu_frames(f, o.cpu_frames, out); });
  if (o.baseline_patches > 0) {
    part("baseline", [&] { out.baseline = time_dense_baseline(o.baseline_patches); });
  }
  return out;
}

}  // namespace fiberloom
