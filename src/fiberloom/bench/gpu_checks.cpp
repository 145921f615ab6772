// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/bench/gpu_checks.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>

#include "fiberloom/bench/gpu_agreement.hpp"
#include "fiberloom/bench/scan_checks.hpp"
#include "fiberloom/bench/small_case.hpp"
#include "fiberloom/extract/exact/engine.hpp"
#include "fiberloom/simulate/exposure.hpp"
#include "fiberloom/simulate/simulated_psf.hpp"
#include "loom/base/print.hpp"
#include "loom/runtime/executors.hpp"

namespace fiberloom {
namespace {

using Case = SmallCase;

/// Guard bins lie on the CCD, so that the condition number is that of real frames.
Case small_case(std::size_t nwave, Executor& executor, int nfiber = 6) {
  SmallFrameOptions o;
  o.nfiber = nfiber;
  o.nwave = nwave;
  o.margin_aa = 110;
  return make_small_case(o, 3, executor);
}

/// A dead block in the middle of the CCD.
void kill_block(Case& c, std::size_t half_rows, std::size_t half_columns) {
  auto& ivar = std::get<Array2D<double>>(c.ccd.ivar.data());
  for (std::size_t y = ivar.rows() / 2 - half_rows; y < ivar.rows() / 2 + half_rows; ++y) {
    for (std::size_t x = ivar.cols() / 2 - half_columns; x < ivar.cols() / 2 + half_columns; ++x)
      ivar(y, x) = 0;
  }
  apply_mask(c.ccd, {});
}

Case camera_case(Executor& executor) {
  Case c{make_psf(camera_psf_options('r')), {}, {}};
  ExposureOptions exposure;
  exposure.defects = DefectOptions{};
  SimulatedExposure e = simulate_exposure(c.psf, exposure, executor);
  c.options.wave = camera_wave_grid('r');
  c.ccd.image = PixelArray(std::move(e.frame.image));
  c.ccd.ivar = PixelArray(std::move(e.frame.ivar));
  apply_mask(c.ccd, e.frame.mask);
  return c;
}

/// Pixels as every real file has them.
void make_float32(Case& c) {
  for (PixelArray* pixels : {&c.ccd.image, &c.ccd.ivar}) {
    Array2D<float> narrow(pixels->rows(), pixels->cols());
    for (std::size_t y = 0; y < narrow.rows(); ++y) {
      for (std::size_t x = 0; x < narrow.cols(); ++x)
        narrow(y, x) = static_cast<float>(pixels->at(y, x));
    }
    *pixels = PixelArray(std::move(narrow));
  }
}

/// Another stamp and other degrees than DESI's, and tails: kernels that know none of these numbers.
Case other_psf_case(std::size_t nwave, Executor& executor) {
  SmallFrameOptions o;
  o.nfiber = 6;
  o.nwave = nwave;
  SimulatedPsfOptions options = small_psf_options(
      o.nfiber, o.wave_first_aa, o.wave_first_aa + static_cast<double>(nwave) * o.step_aa, 110);
  options.hsize_x = 6;
  options.hsize_y = 4;
  options.gh_degree = 4;
  PsfModel psf = make_psf(options);
  psf.has_tails = true;
  for (std::size_t f = 0; f < psf.tails.amp.coef.rows(); ++f) psf.tails.amp.coef(f, 0) = 0.002;
  return as_small_case(make_small_frame(o, psf, executor), 3);
}

class Checks {
 public:
  explicit Checks(const GpuCheckOptions& options)
      : options_(options), executor_(make_executor(options.threads)) {}

  std::vector<GpuCheck> run() {
    if (options_.scale != GpuCheckScale::kCamera) run_tiny();
    if (options_.scale == GpuCheckScale::kSmall || options_.scale == GpuCheckScale::kFull) {
      run_small();
    }
    if (options_.scale == GpuCheckScale::kCamera || options_.scale == GpuCheckScale::kFull) {
      check("r camera with defects agrees with the CPU",
            [&] { return agrees(camera_case(*executor_)); });
    }
    return std::move(checks_);
  }

 private:
  struct Verdict {
    bool passed;
    std::string detail;
  };

  void run_tiny() {
    check("clean frame agrees with the CPU", [&] { return agrees(small_case(260, *executor_)); });
    check("dead block agrees with the CPU", [&] {
      Case c = small_case(120, *executor_);
      kill_block(c, 12, 9);
      return agrees(c);
    });
    check("band 48 agrees with the CPU", [&] {
      Case c = small_case(90, *executor_);
      c.options.tolerance = 1e-10;
      kill_block(c, 14, 9);
      return agrees(c);
    });
    check("band 64 agrees with the CPU", [&] {
      Case c = small_case(90, *executor_);
      c.options.ndiag = 129;
      return agrees(c);
    });
    check("float32 pixels agree with the CPU", [&] {
      Case c = small_case(60, *executor_);
      make_float32(c);
      return agrees(c);
    });
    check("another PSF than DESI's agrees with the CPU",
          [&] { return agrees(other_psf_case(60, *executor_)); });
    check_scan("redshift scan agrees with the CPU", check_scan_agrees);
  }
  void run_small() {
    check("same bytes again and again", [&] { return repeats(); });
    check("same bytes with frames in flight", [&] { return in_flight(); });
    check("same bytes in little memory, clear error in too little", [&] { return memory(); });
    check("faults end in an error or on the CPU", [&] { return faults(); });
    check("several devices share the frames", [&] { return several(); });
    check_scan("redshift scan: same bytes again, in little memory, in flight", check_scan_repeats);
    check_scan("redshift scan: faults end in an error or on the CPU", check_scan_faults);
  }

  void check_scan(const char* name, ScanVerdict (*what)(const OpenDevice&, Executor&)) {
    check(name, [&] {
      ScanVerdict v = what([this] { return options_.open(0); }, *executor_);
      return Verdict{v.passed, std::move(v.detail)};
    });
  }

  template <class Body>
  void check(const char* name, Body body) {
    GpuCheck c;
    c.name = name;
    const auto start = std::chrono::steady_clock::now();
    try {
      const Verdict v = body();
      c.passed = v.passed;
      c.detail = v.detail;
    } catch (const std::exception& e) {
      c.detail = e.what();
    }
    c.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (options_.done) options_.done(c);
    checks_.push_back(std::move(c));
  }

  std::unique_ptr<DeviceEngine> engine(const DeviceEngineOptions& options = {}, int devices = 1) {
    std::vector<std::unique_ptr<Device>> all;
    for (int i = 0; i < devices; ++i) all.push_back(options_.open(i));
    return std::make_unique<DeviceEngine>(std::move(all), options);
  }
  ExtractResult extract(DeviceEngine& e, const Case& c) {
    return e.extract(c.ccd, c.psf, c.options, *executor_);
  }

  Verdict agrees(const Case& c) {
    exact::Tuning tuning = exact::tuning_of(c.options);
    tuning.device_parts = true;
    const ExtractResult cpu =
        exact::extract(c.ccd, c.psf, c.options, tuning, active_isa(), *executor_, {}, nullptr);
    const ExtractResult gpu = extract(*engine(), c);
    const GpuAgreement a = compare_with_cpu(cpu, gpu);
    const std::size_t left = gpu.device.cpu_bundles.size(), all = cpu.bundles.size();
    const std::string why = left > 0 ? ": " + gpu.device.cpu_bundles.front().reason : "";
    return {a.passed && left < all,
            a.detail + print(", %zu of %zu bundles on the CPU", left, all) + why};
  }

  Verdict repeats() {
    const Case c = small_case(90, *executor_);
    const auto e = engine();
    const ExtractResult first = extract(*e, c);
    for (int i = 0; i < 3; ++i) {
      if (!same_bytes(first, extract(*e, c))) return {false, print("run %d differs", i + 2)};
    }
    return {true, "4 runs"};
  }

  /// Every result of `frames` concurrent extractions equals the first alone.
  bool concurrent(DeviceEngine& e, const Case& c, int frames) {
    const ExtractResult one = extract(*engine(), c);
    std::vector<ExtractResult> results(static_cast<std::size_t>(frames));
    std::vector<std::thread> threads;
    std::vector<std::exception_ptr> errors(results.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      threads.emplace_back([&, i] {
        try {
          results[i] = extract(e, c);
        } catch (...) {
          errors[i] = std::current_exception();
        }
      });
    }
    for (auto& t : threads) t.join();
    for (const std::exception_ptr& error : errors) {
      if (error) std::rethrow_exception(error);
    }
    return std::all_of(results.begin(), results.end(),
                       [&](const ExtractResult& r) { return same_bytes(one, r); });
  }
  Verdict in_flight() {
    DeviceEngineOptions options;
    options.frames_in_flight = 3;
    return {concurrent(*engine(options), small_case(90, *executor_), 6), "6 frames, 3 at a time"};
  }
  Verdict several() {
    return {concurrent(*engine({}, 2), small_case(90, *executor_), 5), "5 frames on 2"};
  }

  Verdict memory() {
    Case c = small_case(60, *executor_, 96);
    c.options.bundle_size = 2;
    const ExtractResult full = extract(*engine(), c);
    DeviceEngineOptions options;
    options.memory_bytes = 1;
    std::size_t least = 0;
    try {
      (void)extract(*engine(options), c);
    } catch (const Error& e) {
      if (e.status() != Status::kDevice) throw;
      least = std::size_t{std::stoul(
                  std::string(e.what()).substr(std::string("GPU: a frame needs at least ").size()))}
              << 20;
    }
    if (least == 0) return {false, "a limit of one byte was no error"};
    options.memory_bytes = least + (std::size_t{1} << 20);
    const ExtractResult little = extract(*engine(options), c);
    const std::size_t most = full.device.memory_bytes, used = little.device.memory_bytes;
    return {same_bytes(full, little) && used < most,
            print("%zu MiB and %zu MiB", most >> 20, used >> 20)};
  }

  Verdict faults() {
    const Case c = small_case(90, *executor_);
    const ExtractResult cpu = extract_exact(c.ccd, c.psf, c.options, *executor_);
    int caught = 0;
    for (const DeviceOperation operation :
         {DeviceOperation::kAllocate, DeviceOperation::kCopy, DeviceOperation::kLaunch,
          DeviceOperation::kSynchronize}) {
      for (const OnDeviceError answer : {OnDeviceError::kFail, OnDeviceError::kCpu}) {
        const long after = operation == DeviceOperation::kAllocate      ? 0
                           : operation == DeviceOperation::kSynchronize ? 2
                                                                        : 7;
        std::unique_ptr<Device> device = options_.open(0);
        Device* faulty = device.get();
        faulty->inject({operation, after});
        std::vector<std::unique_ptr<Device>> all;
        all.push_back(std::move(device));
        DeviceEngineOptions options;
        options.on_error = answer;
        DeviceEngine e(std::move(all), options);
        try {
          const ExtractResult r = extract(e, c);
          caught +=
              answer == OnDeviceError::kCpu && !r.device.failure.empty() && same_bytes(r, cpu);
        } catch (const Error& error) {
          caught += answer == OnDeviceError::kFail && error.status() == Status::kDevice;
        }
        faulty->inject({});
        const ExtractResult after_it = extract(e, c);
        if (!same_bytes(after_it, extract(*engine(), c)) || !after_it.device.failure.empty())
          return {false, "the frame after a fault differs"};
      }
    }
    return {caught == 8, print("%d of 8", caught)};
  }

  GpuCheckOptions options_;
  std::unique_ptr<Executor> executor_;
  std::vector<GpuCheck> checks_;
};

}  // namespace

std::vector<GpuCheck> run_gpu_checks(const GpuCheckOptions& options) {
  return Checks(options).run();
}

}  // namespace fiberloom
