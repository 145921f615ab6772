// SPDX-License-Identifier: BSD-3-Clause
// One frame on a device, from pixels to spectra.
#include "fiberloom/extract/exact/gpu/device_engine.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <set>

#include "fiberloom/extract/exact/gpu/frame.hpp"
#include "loom/base/stop.hpp"

namespace fiberloom {

using exact::gpu::DeviceFrame;
using exact::gpu::FrameNeeds;
using exact::gpu::Problem;

DeviceEngine::DeviceEngine(std::vector<std::unique_ptr<Device>> devices,
                           const DeviceEngineOptions& options)
    : options_(options),
      places_(std::move(devices), {options.memory_bytes, options.frames_in_flight}) {}

const DeviceInfo& DeviceEngine::info() const noexcept { return places_.cards().front()->info; }
std::size_t DeviceEngine::device_count() const noexcept { return places_.cards().size(); }
std::size_t DeviceEngine::places() const noexcept { return places_.count(); }
bool DeviceEngine::any_left() const { return places_.any_left(); }

namespace {

/// Host arrays that are copied all at once, piece by piece on all threads: what they are copied to
/// is fresh memory, which takes longer to be given than to be written.
class Copies {
 public:
  template <class To, class From>
  void add(To* to, const From* from, std::size_t n) {
    constexpr std::size_t kPiece = std::size_t{1} << 17;
    for (std::size_t first = 0; first < n; first += kPiece) {
      const std::size_t count = std::min(n - first, kPiece);
      pieces_.emplace_back([to = to + first, from = from + first, count] {
        if constexpr (std::is_same_v<To, From>) {
          std::memcpy(to, from, count * sizeof(To));
        } else {
          for (std::size_t k = 0; k < count; ++k) to[k] = static_cast<To>(from[k]);
        }
      });
    }
  }
  void run(Executor& executor) {
    executor.run(pieces_.size(), [&](std::size_t i) { pieces_[i](); });
  }

 private:
  std::vector<std::function<void()>> pieces_;
};

bool is_double(const PixelArray& a) { return std::holds_alternative<Array2D<double>>(a.data()); }

void add_pixels(const PixelArray& a, void* to, bool as_double, Copies& copies) {
  std::visit(
      [&](const auto& array) {
        if (as_double) {
          copies.add(static_cast<double*>(to), array.data(), array.size());
        } else {
          copies.add(static_cast<float*>(to), array.data(), array.size());
        }
      },
      a.data());
}

/// One frame in one slot.
class FrameRun {
 public:
  /// `result` has its sizes.
  FrameRun(const CcdFrame& ccd, const Problem& problem, Executor& executor,
           const Observer& observer, Tracer* tracer, ExtractResult& result)
      : ccd_(ccd),
        p_(problem),
        executor_(executor),
        observer_(observer),
        tracer_(tracer),
        result_(result) {}

  /// Pixels and geometry, or results; letters behind them.
  [[nodiscard]] std::size_t staging_bytes(const FrameNeeds& needs) const {
    const std::size_t pixels = ccd_.image.rows() * ccd_.image.cols();
    const std::size_t out =
        result_.flux.size() * (5 * sizeof(double)) + result_.resolution.size() * sizeof(float);
    const std::size_t strips = p_.options.want_model
                                   ? static_cast<std::size_t>(p_.nbundle() * p_.rows) *
                                         static_cast<std::size_t>(p_.strip_pitch) * sizeof(float)
                                   : 0;
    const std::size_t most = std::max(2 * pixels * sizeof(double) + needs.upload, out + strips);
    return (most + kAlign - 1) / kAlign * kAlign + needs.mail;
  }
  [[nodiscard]] bool double_pixels() const { return is_double(ccd_.image) || is_double(ccd_.ivar); }

  void run(Stream& stream, const exact::gpu::DeviceKernels& kernels, const DeviceMemory& memory,
           std::size_t shared_bytes, void* staging, const FrameNeeds& needs,
           std::vector<exact::ModelStrip>& models, std::vector<exact::gpu::LeftToCpu>& left) {
    auto* first = static_cast<std::byte*>(staging);
    DeviceFrame frame(p_, double_pixels(), p_.options.want_model, stream, kernels, observer_, needs,
                      memory.data(), memory.bytes(),
                      {first + staging_bytes(needs) - needs.mail, needs.mail}, shared_bytes);
    std::byte* second = first + ccd_.image.rows() * ccd_.image.cols() * sizeof(double);
    Span staging_time(tracer_, "compute/staging");
    Copies pixels;
    add_pixels(ccd_.image, first, double_pixels(), pixels);
    add_pixels(ccd_.ivar, second, double_pixels(), pixels);
    pixels.run(executor_);
    staging_time.stop();
    frame.upload(first, second, second + (second - first));
    stop_if_asked(observer_);
    frame.assemble();
    frame.solve();
    frame.diagnose();
    stop_if_asked(observer_);
    frame.decorrelate();
    frame.report_fits();
    download(stream, frame, staging, models);
    for (std::size_t b = 0; b < frame.outcomes().size(); ++b) {
      const auto& outcome = frame.outcomes()[b];
      const std::size_t index = p_.device_bundle[b];
      result_.bundles[index] = outcome.report;
      if (!outcome.to_cpu.empty()) left.push_back({index, outcome.to_cpu});
    }
  }

 private:
  void download(Stream& stream, const DeviceFrame& frame, void* staging,
                std::vector<exact::ModelStrip>& models) {
    const exact::gpu::ResultView& from = frame.result();
    const std::size_t n = frame.result_values();
    auto* out = static_cast<double*>(staging);
    auto* resolution = reinterpret_cast<float*>(out + 5 * n);
    auto* strips = resolution + result_.resolution.size();
    const double* arrays[] = {from.flux, from.ivar, from.xflux, from.chi2pix, from.lost};
    {
      const DeviceStage stage(stream, "copy out");
      for (std::size_t i = 0; i < 5; ++i)
        stream.copy_out(out + i * n, arrays[i], n * sizeof(double));
      stream.copy_out(resolution, from.resolution, result_.resolution.size() * sizeof(float));
      if (frame.model() != nullptr) {
        stream.copy_out(
            strips, frame.model(),
            frame.strip_values() * static_cast<std::size_t>(p_.nbundle()) * sizeof(float));
      }
    }
    stream.synchronize();
    const Span results_time(tracer_, "compute/results");
    Array2D<double>* to[] = {&result_.flux, &result_.ivar, &result_.xflux, &result_.chi2pix,
                             &result_.pixmask_fraction};
    Copies results;
    for (std::size_t i = 0; i < 5; ++i) results.add(to[i]->data(), out + i * n, n);
    results.add(result_.resolution.data(), resolution, result_.resolution.size());
    for (int b = 0; frame.model() != nullptr && b < p_.nbundle(); ++b) {
      exact::ModelStrip& strip = models[p_.device_bundle[static_cast<std::size_t>(b)]];
      strip.x0 = p_.strip_x[static_cast<std::size_t>(b)];
      strip.y0 = p_.row_first;
      strip.value = Array2D<float>(static_cast<std::size_t>(p_.rows),
                                   static_cast<std::size_t>(p_.strip_pitch));
      results.add(strip.value.data(), strips + static_cast<std::size_t>(b) * frame.strip_values(),
                  strip.value.size());
    }
    results.run(executor_);
  }

  static constexpr std::size_t kAlign = 256;
  const CcdFrame& ccd_;
  const Problem& p_;
  Executor& executor_;
  const Observer& observer_;
  Tracer* tracer_;
  ExtractResult& result_;
};

/// Bundles that the device left.
void extract_left(const CcdFrame& ccd, const Problem& p,
                  const std::vector<exact::gpu::LeftToCpu>& left, Executor& executor,
                  const Observer& observer, Tracer* tracer, ExtractResult& result,
                  std::vector<exact::ModelStrip>& models) {
  if (left.empty()) return;
  exact::FrameContext frame{ccd, p.options, p.grid, p.plan, p.tuning, active_isa()};
  frame.psferr = p.psferr;
  frame.observer = &observer;
  frame.weak_prior = p.weak_prior;
  frame.tracer = tracer;
  exact::Pool<exact::BundleWorkspace> pool;
  executor.run(left.size(), [&](std::size_t i) {
    stop_if_asked(observer);
    auto work = pool.take();
    const std::size_t b = left[i].bundle;
    result.bundles[b] = exact::extract_bundle(frame, p.bundles[b], *work, result,
                                              models.empty() ? nullptr : &models[b]);
  });
}

void count_unconstrained(ExtractResult& result) {
  for (BundleReport& b : result.bundles) {
    b.unconstrained = 0;
    for (int f = b.first_fiber; f < b.first_fiber + b.nfiber; ++f) {
      const int row = f - result.spec_min;
      if (row < 0 || row >= static_cast<int>(result.ivar.rows())) continue;
      const double* ivar = result.ivar.row(static_cast<std::size_t>(row));
      b.unconstrained += static_cast<std::size_t>(std::count(ivar, ivar + result.ivar.cols(), 0.0));
    }
  }
}

void report_left(const Problem& p, const std::vector<exact::gpu::LeftToCpu>& left,
                 const Observer& observer, DeviceReport& report) {
  for (const auto& l : left) {
    report.cpu_bundles.push_back({p.bundles[l.bundle], l.reason});
    observer.info("fibres " + std::to_string(p.bundles[l.bundle].first) + " to " +
                  std::to_string(p.bundles[l.bundle].last - 1) + " go to the CPU: " + l.reason);
  }
}

}  // namespace

ExtractResult DeviceEngine::extract(const CcdFrame& ccd, const PsfModel& psf,
                                    const ExtractOptions& options, Executor& executor,
                                    const Observer& observer, Tracer* tracer) {
  return extract(ccd, psf, options, exact::tuning_of(options), executor, observer, tracer);
}

/// Of the failure that is being caught: goes on throwing where the CPU is not to take over, else
/// warns.
void DeviceEngine::note_failure(const Error& e, const Observer& observer) {
  const Error told = places_.after_failure(e, observer);
  if (options_.on_error == OnDeviceError::kFail) throw Error(told);
  observer.warn(std::string(e.what()) + "; the CPU extracts this frame");
}

ExtractResult DeviceEngine::extract(const CcdFrame& ccd, const PsfModel& psf,
                                    const ExtractOptions& options, const exact::Tuning& tuning,
                                    Executor& executor, const Observer& observer, Tracer* tracer) {
  validate(ccd, psf, options);
  Span setup(tracer, "compute/geometry");
  const Problem p =
      exact::gpu::make_problem(psf, options, tuning, active_isa(), geometry_, executor, observer);
  setup.stop();
  ExtractResult result = exact::empty_result(psf, options);
  result.bundles.resize(p.bundles.size());
  std::vector<exact::ModelStrip> models(options.want_model ? p.bundles.size() : 0);
  std::vector<exact::gpu::LeftToCpu> left = p.left;
  DeviceReport& r = result.device;
  try {
    if (p.nbundle() > 0) {
      FrameRun run(ccd, p, executor, observer, tracer, result);
      const FrameNeeds needs = exact::gpu::frame_needs(p, run.double_pixels(), options.want_model);
      const std::size_t least = needs.fixed + needs.least_scratch;
      if (options_.too_large == TooLarge::kCpu && least > places_.most_bytes()) {
        observer.info("the frame needs more memory than the device has; the CPU extracts it");
        return exact::extract(ccd, psf, options, tuning, active_isa(), executor, observer, tracer);
      }
      DevicePlaces::Lease place =
          places_.take(least, needs.fixed + needs.full_scratch, executor, observer);
      const Span span(tracer, "compute/device");
      const DeviceInfo& info = place->card->info;
      r.device = info.name;
      r.memory_bytes = place->memory.bytes();
      if (place->staging.bytes() < run.staging_bytes(needs)) {
        place->staging = HostMemory();
        place->staging = HostMemory(*place->card->device, run.staging_bytes(needs));
      }
      run.run(*place->stream,
              info.emulated ? exact::gpu::emulated_kernels() : exact::gpu::cuda_kernels(),
              place->memory, info.shared_bytes, place->staging.data(), needs, models, left);
      r.stages = place->stream->take_stage_times();
    }
  } catch (const Error& e) {
    if (e.status() != Status::kDevice) throw;
    note_failure(e, observer);
    DeviceReport report = std::move(r);
    report.failure = e.what();
    result = exact::extract(ccd, psf, options, tuning, active_isa(), executor, observer, tracer);
    result.device = std::move(report);
    return result;
  }
  report_left(p, left, observer, r);
  extract_left(ccd, p, left, executor, observer, tracer, result, models);
  const Span finish_time(tracer, "compute/finish");
  count_unconstrained(result);
  if (observer.progress) observer.progress("extract", p.bundles.size(), p.bundles.size());
  exact::finish_frame(psf, options, models, executor, observer, result);
  return result;
}

std::shared_ptr<DeviceEngine> make_device_engine(Backend backend, DeviceEngineOptions options,
                                                 const Observer& observer) {
  std::vector<std::unique_ptr<Device>> devices = open_devices(backend, observer);
  if (devices.empty()) return nullptr;
  if (backend == Backend::kAuto) options.too_large = TooLarge::kCpu;
  return std::make_shared<DeviceEngine>(std::move(devices), options);
}

}  // namespace fiberloom
