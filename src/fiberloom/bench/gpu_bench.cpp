// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/bench/gpu_bench.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>

#include "fiberloom/simulate/exposure.hpp"
#include "fiberloom/simulate/simulated_psf.hpp"
#include "loom/base/median.hpp"
#include "loom/device/emulated_device.hpp"
#include "loom/runtime/executors.hpp"
#include "loom/runtime/usage.hpp"
#include "loom/trace/trace.hpp"

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
  if (o.defects) exposure.defects = DefectOptions{};
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
    } else if (s.name == "sweeps") {  // two sweeps: factors of windows, solves of columns, products
      s.flops = bins * 2 * 2 * (2 * 44 + 2 * 49 * 8 + 153);
      s.bytes = bins * 8 * 2 * (2 * 26 + 2 * 9 + 9 + 3 * 9);
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

/// One extraction, by the device's clock and by the wall's.
struct Repeat {
  double frame_s = 0, compute_s = 0, copies_s = 0;
  std::vector<DeviceStageTime> stages;
};

bool is_copy(const DeviceStageTime& t) { return t.name.starts_with("copy"); }

/// From the first stage to the last: some go beside others.
double compute_seconds(const std::vector<DeviceStageTime>& stages) {
  double begin = std::numeric_limits<double>::infinity(), end = 0;
  for (const DeviceStageTime& t : stages) {
    if (is_copy(t)) continue;
    begin = std::min(begin, t.begin);
    end = std::max(end, t.end);
  }
  return std::max(end - begin, 0.0);
}

/// Memory traffic against arithmetic: the spots of the diagnostics computed once more.
void spots_again(const Frame& f, DeviceEngine& engine, Executor& executor, int repeats,
                 GpuBenchResult& out) {
  exact::Tuning tuning = exact::tuning_of(f.options);
  tuning.device_spots = exact::DeviceSpots::kMadeAgain;
  double best = std::numeric_limits<double>::infinity();
  for (int turn = 0; turn <= repeats; ++turn) {  // the first warms up
    const ExtractResult result =
        engine.extract(f.ccd, f.psf, f.options, tuning, executor, {}, nullptr);
    if (turn > 0) best = std::min(best, compute_seconds(result.device.stages));
  }
  if (repeats > 0) out.spots_again_s = best;
}

void one_frame(const Frame& f, DeviceEngine& engine, Executor& executor, int repeats,
               GpuBenchResult& out) {
  std::vector<Repeat> all;
  std::vector<double> frame_s, compute_s;
  ExtractResult result;
  const exact::Tuning tuning = exact::tuning_of(f.options);
  Tracer warm_up, tracer;
  for (int turn = 0; turn <= repeats; ++turn) {  // the first warms up
    const auto start = Clock::now();
    result = engine.extract(f.ccd, f.psf, f.options, tuning, executor, {},
                            turn == 0 ? &warm_up : &tracer);
    Repeat one{since(start), 0, 0, std::move(result.device.stages)};
    out.cpu_bundles = result.device.cpu_bundles.size();
    if (turn == 0) continue;
    one.compute_s = compute_seconds(one.stages);
    for (const DeviceStageTime& t : one.stages) one.copies_s += is_copy(t) ? t.seconds : 0;
    frame_s.push_back(one.frame_s);
    compute_s.push_back(one.compute_s);
    all.push_back(std::move(one));
  }
  if (all.empty()) return;
  for (const auto& [name, sum] : tracer.sums())
    out.host.emplace_back(name, sum.seconds / static_cast<double>(sum.count));
  // one repeat as a whole: the least of each stage would add up to a frame that never was
  const Repeat& best =
      *std::min_element(all.begin(), all.end(),
                        [](const Repeat& a, const Repeat& b) { return a.compute_s < b.compute_s; });
  for (const DeviceStageTime& t : best.stages)
    out.stages.push_back({t.name, t.seconds, t.launches, 0, 0, t.begin, t.end});
  count_work(result, f.ccd.image.rows() * f.ccd.image.cols(), out.stages);
  out.repeats = repeats;
  out.compute_s = best.compute_s;
  out.copies_s = best.copies_s;
  out.median_compute_s = median_of(compute_s);
  out.frame_s = *std::min_element(frame_s.begin(), frame_s.end());
  out.median_frame_s = median_of(frame_s);
}

/// Runs body(0) ... body(n - 1) on threads of their own; throws what one of them threw.
template <class Body>
void on_threads(int n, const Body& body) {
  std::vector<std::thread> threads;
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    threads.emplace_back([&, i] {
      try {
        body(i);
      } catch (...) {
        errors[static_cast<std::size_t>(i)] = std::current_exception();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

/// So many frames at the same time, each in a place of its own: all places have their memory,
/// page-locked staging and stream afterwards. Frames ask whether to stop once they have a place;
/// there they wait for each other, but not for long: the memory may not hold all of them.
void fill_places(const Frame& f, DeviceEngine& engine, Executor& executor, int places) {
  std::mutex mutex;
  std::condition_variable all_here;
  int here = 0;
  on_threads(places, [&](int) {
    bool counted = false;
    Observer observer;
    observer.stop_requested = [&] {
      std::unique_lock lock(mutex);
      if (!counted && ++here == places) all_here.notify_all();
      counted = true;
      all_here.wait_for(lock, std::chrono::seconds(3), [&] { return here >= places; });
      return false;
    };
    (void)engine.extract(f.ccd, f.psf, f.options, executor, observer);
  });
}

void many_frames(const Frame& f, DeviceEngine& engine, Executor& executor, const GpuBenchOptions& o,
                 GpuBenchResult& out) {
  fill_places(f, engine, executor, o.frames_in_flight);
  std::atomic<int> next{0};
  const auto start = Clock::now();
  const double cpu_start = cpu_seconds();
  on_threads(o.frames_in_flight + 1, [&](int) {  // one more prepares its frame meanwhile
    try {
      while (next++ < o.frames) (void)engine.extract(f.ccd, f.psf, f.options, executor);
    } catch (...) {
      next = o.frames;
      throw;
    }
  });
  out.overlapped_s = since(start);
  out.overlapped_cpu_s = cpu_seconds() - cpu_start;
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

/// The first card, or the CPU in its place: what is asked for is asked of one.
std::unique_ptr<Device> open_one(Backend backend, bool awake) {
  if (backend == Backend::kEmulate) return make_emulated_device();
  if (backend == Backend::kCuda) return open_cuda_device(0, {.awake = awake});
  throw Error(Status::kUsage, "bench gpu: the backend must be cuda or emulate");
}

}  // namespace

double GpuBenchResult::overlap() const {
  const double each = overlapped_frame_s();
  return each > 0 && compute_s > 0 ? std::max(compute_s, copies_s) / each : 0;
}

bool GpuBenchResult::comparable() const {
  return !device.emulated && fibers >= 500 && bins >= 2326;
}

GpuBenchResult run_gpu_bench(const GpuBenchOptions& o) {
  const auto executor = make_executor(o.threads);
  GpuBenchResult out;
  // what one part cannot do must not cost what the others have measured
  const auto part = [&](const char* name, auto body) {
    try {
      body();
    } catch (const std::exception& e) {
      out.failures.push_back(std::string(name) + ": " + e.what());
    }
    if (o.done) o.done(out);
  };
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(open_one(o.backend, o.awake));
  out.device = devices[0]->info();
  part("limits of the card", [&] { out.rates = devices[0]->measure_rates(); });
  DeviceEngineOptions engine_options;
  engine_options.frames_in_flight = o.frames_in_flight;
  engine_options.memory_bytes = o.memory_bytes;
  auto engine = std::make_unique<DeviceEngine>(std::move(devices), engine_options);
  const Frame f = simulate(o, *executor);
  out.fibers = f.psf.nfiber();
  out.bins = f.options.wave.size();
  part("one frame", [&] { one_frame(f, *engine, *executor, o.repeats, out); });
  part("spots made again", [&] { spots_again(f, *engine, *executor, o.repeats, out); });
  if (o.frames > 0) part("many frames", [&] { many_frames(f, *engine, *executor, o, out); });
  engine.reset();  // its memory is the next one's
  if (o.scan_targets > 0) {
    part("scan for redshifts", [&] {
      run_scan_bench(open_one(o.backend, o.awake),
                     {o.scan_targets, o.scan_redshifts, o.repeats, o.memory_bytes}, *executor,
                     out.scan);
    });
  }
  if (o.cpu_frames > 0) part("one CPU core", [&] { cpu_frames(f, o.cpu_frames, out); });
  if (o.baseline_patches > 0) {
    part("baseline", [&] { out.baseline = time_dense_baseline(o.baseline_patches); });
  }
  return out;
}

}  // namespace fiberloom
