// SPDX-License-Identifier: BSD-3-Clause
// The CUDA body of device/ as nvcc compiled it, on a stand-in for the CUDA runtime: what a GPU
// machine would be the first to tell. A plain program; exit code 1 when a check failed.
#include <cstdio>
#include <functional>
#include <thread>

#include "fiberloom/bench/gpu_agreement.hpp"
#include "fiberloom/bench/gpu_bench.hpp"
#include "fiberloom/bench/gpu_checks.hpp"
#include "fiberloom/bench/scan_case.hpp"
#include "fiberloom/redshift/gpu/device_scan.hpp"
#include "fiberloom/simulate/small_frame.hpp"
#include "loom/base/executor.hpp"
#include "tests/fiberloom/gpu/cuda_standin.hpp"

using namespace fiberloom;

namespace {

int passed = 0, failed = 0;

void expect(bool holds, const std::string& what) {
  ++(holds ? passed : failed);
  std::printf("%s  %s\n", holds ? "passed" : "FAILED", what.c_str());
  std::fflush(stdout);
}

void expect_clean(const char* where) {
  const standin::Seen seen = standin::seen();
  for (const std::string& m : seen.misuses) std::printf("misuse: %s\n", m.c_str());
  expect(seen.misuses.empty(), std::string(where) + ": no call that CUDA would refuse");
  expect(seen.live_memory == 0 && seen.live_host_memory == 0 && seen.live_streams == 0 &&
             seen.live_events == 0,
         std::string(where) + ": memory, streams and events are given back");
}

struct Case {
  SmallFrame frame;
  CcdFrame ccd;
  ExtractOptions options;
};

Case make_case() {
  SmallFrameOptions o;
  o.nfiber = 5;
  o.nwave = 60;
  o.margin_aa = 110;
  SerialExecutor serial;
  Case c{make_small_frame(o, serial), {}, {}};
  c.options.wave = c.frame.wave;
  c.options.bundle_size = 2;
  c.ccd.image = PixelArray(c.frame.image);
  c.ccd.ivar = PixelArray(c.frame.ivar);
  return c;
}

ExtractResult on_card(DeviceEngine& engine, const Case& c) {
  SerialExecutor serial;
  return engine.extract(c.ccd, c.frame.psf, c.options, serial);
}

std::unique_ptr<DeviceEngine> engine_of(int cards, const DeviceEngineOptions& options = {}) {
  std::vector<std::unique_ptr<Device>> all;
  for (int i = 0; i < cards; ++i) all.push_back(open_cuda_device(i));
  return std::make_unique<DeviceEngine>(std::move(all), options);
}

void runs_the_checks_of_a_card() {
  standin::reset();
  GpuCheckOptions options;
  options.open = [](int i) { return open_cuda_device(i % cuda_device_count()); };
  options.scale = GpuCheckScale::kSmall;
  options.threads = 2;
  options.done = [](const GpuCheck& c) { expect(c.passed, c.name + ": " + c.detail); };
  (void)run_gpu_checks(options);
  expect(standin::seen().launches[0] > 1000, "kernels were launched through nvcc's stubs");
  expect_clean("checks");
}

void runs_the_benchmark() {
  standin::reset();
  GpuBenchOptions options;
  options.backend = Backend::kCuda;
  options.fibers = 25;
  options.bins = 60;
  options.frames = 3;
  options.frames_in_flight = 2;
  options.repeats = 1;
  options.baseline_patches = 2;
  options.scan_targets = 5;
  options.scan_redshifts = 100;
  const GpuBenchResult r = run_gpu_bench(options);
  // the vendor's libraries are found, opened, and have all functions; they want a real card then
  bool only_baseline = r.failures.size() <= 1;
  for (const std::string& f : r.failures) {
    only_baseline = only_baseline && f.starts_with("baseline: GPU: cublas: status");
  }
  expect(only_baseline, "benchmark: no part failed, but for the baseline for want of a card" +
                            (r.failures.empty() ? ": " + r.baseline.note : ""));
  expect(r.rates.copy_bytes_per_s > 0 && r.rates.in_bytes_per_s > 0 && r.rates.double_flops > 0,
         "benchmark: rates");
  bool all_timed = r.stages.size() >= 10;
  for (const GpuBenchStage& s : r.stages) all_timed = all_timed && s.seconds > 0;
  expect(all_timed, "benchmark: every stage has a time by events");
  expect(r.scan.scan_s > 0 && r.scan.cpu_s > 0 && r.scan.stages.size() == 5,
         "benchmark: a scan for redshifts");
  expect(r.frames == 3 && r.overlapped_s > 0 && r.cpu_frame_s > 0, "benchmark: frames");
  expect_clean("benchmark");
}

void spreads_frames_over_cards() {
  const Case c = make_case();
  standin::reset();
  const ExtractResult one = on_card(*engine_of(1), c);
  standin::reset({.cards = 3});
  {
    const auto engine = engine_of(3);
    std::vector<ExtractResult> results(9);
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        for (std::size_t i = static_cast<std::size_t>(t); i < results.size(); i += 3)
          results[i] = on_card(*engine, c);
      });
    }
    for (std::thread& t : threads) t.join();
    bool same = true;
    for (const ExtractResult& r : results) same = same && same_bytes(one, r);
    expect(same, "three cards, three threads: the bytes of one");
    const std::vector<long> launches = standin::seen().launches;
    expect(launches[0] > 0 && launches[1] == launches[0] && launches[2] == launches[0],
           "three cards, three threads: each had its share");
  }
  expect_clean("three cards");
}

/// What became of eight frames on two cards, after the second of which something happened.
struct Went {
  bool right = true;
  int by_cpu = 0;
  std::string why;  ///< of the last that went to the CPU
};
Went eight_frames(DeviceEngine& engine, const Case& c, const ExtractResult& on_one,
                  const ExtractResult& on_cpu, const std::function<void()>& happens) {
  Went went;
  for (int i = 0; i < 8; ++i) {
    if (i == 2) happens();
    const ExtractResult r = on_card(engine, c);
    if (!r.device.failure.empty()) ++went.by_cpu, went.why = r.device.failure;
    went.right = went.right && same_bytes(r, r.device.failure.empty() ? on_one : on_cpu);
  }
  return went;
}

/// Card 1 of 2 is lost in the middle of the third frame.
void goes_on_when_a_card_is_lost(long after) {
  const Case c = make_case();
  standin::reset();
  const ExtractResult on_one = on_card(*engine_of(1), c);
  SerialExecutor serial;
  const ExtractResult on_cpu = extract_exact(c.ccd, c.frame.psf, c.options, serial);
  const std::string name = "a card lost after " + std::to_string(after) + " calls";
  standin::reset({.cards = 2});
  {
    DeviceEngineOptions options;
    options.on_error = OnDeviceError::kCpu;
    const auto engine = engine_of(2, options);
    const Went went = eight_frames(*engine, c, on_one, on_cpu, [&] { standin::lose(1, after); });
    expect(went.right, name + ": every frame is right");
    expect(went.by_cpu == 1,
           name + ": one frame went to the CPU, the others to the card that is left (" +
               std::to_string(went.by_cpu) + ")");
  }
  expect(standin::seen().misuses.empty(), name + ": no call that CUDA would refuse");
  standin::reset({.cards = 1});
  {
    const auto engine = engine_of(1);
    standin::lose(0, after);
    bool clear = false;
    try {
      (void)on_card(*engine, c);
    } catch (const Error& e) {
      clear = e.status() == Status::kDevice &&
              std::string(e.what()).find("unspecified launch failure") != std::string::npos;
    }
    expect(clear, name + ": the only one, and the driver's words are the error");
  }
}

/// Card 1 of 2 never ends what it was told in the third frame: given up after a while, and left
/// alone with all that it may still write to.
void goes_on_when_a_kernel_hangs(long after) {
  const Case c = make_case();
  standin::reset();
  const ExtractResult on_one = on_card(*engine_of(1), c);
  SerialExecutor serial;
  const ExtractResult on_cpu = extract_exact(c.ccd, c.frame.psf, c.options, serial);
  const std::string name = "a kernel that hangs after " + std::to_string(after) + " calls";
  standin::reset({.cards = 2});
  {
    std::vector<std::unique_ptr<Device>> all;
    for (int i = 0; i < 2; ++i) all.push_back(open_cuda_device(i, {.longest_s = 0.05}));
    DeviceEngine engine(std::move(all), {.on_error = OnDeviceError::kCpu});
    const Went went = eight_frames(engine, c, on_one, on_cpu, [&] { standin::hang(1, after); });
    expect(went.right && went.by_cpu == 1, name + ": every frame is right, one by the CPU");
    expect(went.why.find("no answer for 0.05 s") != std::string::npos,
           name + ": says so: " + went.why);
  }
  const standin::Seen seen = standin::seen();
  for (const std::string& m : seen.misuses) std::printf("misuse: %s\n", m.c_str());
  expect(seen.misuses.empty(), name + ": nothing waits for it, nothing of it is given back");
  expect(seen.live_memory > 0, name + ": its memory is left to it");
}

/// Card 1 of 2 is lost in the middle of its second scan.
void scans_go_on_when_a_card_is_lost(long after) {
  const auto c = make_scan_case({.targets = 6, .redshifts = 100, .pixels = 300});
  SerialExecutor serial;
  const auto scan_on = [&](redshift::DeviceScan* scanner) {
    return redshift::scan(c->set, c->templates, c->options, serial, scanner);
  };
  const auto scanner_of = [](int cards) {
    std::vector<std::unique_ptr<Device>> all;
    for (int i = 0; i < cards; ++i) all.push_back(open_cuda_device(i));
    return std::make_unique<redshift::DeviceScan>(
        std::move(all),
        redshift::DeviceScanOptions{.in_flight = 1, .on_error = OnDeviceError::kCpu});
  };
  const std::string name = "scans, a card lost after " + std::to_string(after) + " calls";
  standin::reset();
  const auto on_cpu = scan_on(nullptr), on_one = scan_on(scanner_of(1).get());
  standin::reset({.cards = 2});
  {
    const auto scanner = scanner_of(2);
    bool right = true;
    for (int i = 0; i < 8; ++i) {
      if (i == 2) standin::lose(1, after);
      const std::size_t before = scanner->report().by_cpu;
      const auto found = scan_on(scanner.get());
      right = right && same_scan(found, scanner->report().by_cpu > before ? on_cpu : on_one);
    }
    expect(right, name + ": every scan is right");
    expect(scanner->report().by_cpu == 1 && scanner->report().scans == 7 && scanner->any_left(),
           name + ": one scan went to the CPU, the others to the card that is left");
  }
  expect(standin::seen().misuses.empty(), name + ": no call that CUDA would refuse");
}

void keeps_to_the_memory_that_there_is() {
  const Case c = make_case();
  standin::reset();
  const ExtractResult one = on_card(*engine_of(1), c);
  standin::reset({.memory_bytes = one.device.memory_bytes * 3 / 2});
  {
    DeviceEngineOptions options;
    options.frames_in_flight = 4;
    const auto engine = engine_of(1, options);
    std::vector<ExtractResult> results(4);
    std::vector<std::thread> threads;
    for (ExtractResult& r : results) threads.emplace_back([&] { r = on_card(*engine, c); });
    for (std::thread& t : threads) t.join();
    bool same = true;
    for (const ExtractResult& r : results) same = same && same_bytes(one, r);
    expect(same, "memory for one frame and a half: four frames, the same bytes");
  }
  expect_clean("little memory");
}

}  // namespace

int main() {
  try {
    runs_the_checks_of_a_card();
    runs_the_benchmark();
    spreads_frames_over_cards();
    for (const long after : {0L, 3L, 40L, 150L}) goes_on_when_a_card_is_lost(after);
    for (const long after : {0L, 10L, 60L}) scans_go_on_when_a_card_is_lost(after);
    keeps_to_the_memory_that_there_is();
    // the last: no page-locked memory is given back after one
    for (const long after : {1L, 40L, 150L}) goes_on_when_a_kernel_hangs(after);
  } catch (const std::exception& e) {
    expect(false, e.what());
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
