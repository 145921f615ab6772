// SPDX-License-Identifier: BSD-3-Clause
// Places on devices, and one frame from pixels to spectra.
#include "fiberloom/extract/exact/gpu/device_engine.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>

#include "fiberloom/device/emulated_device.hpp"
#include "fiberloom/extract/exact/gpu/frame.hpp"

namespace fiberloom {

using exact::gpu::DeviceFrame;
using exact::gpu::FrameNeeds;
using exact::gpu::Problem;

namespace {

constexpr auto kStopPoll = std::chrono::milliseconds(100);

void stop_if_asked(const Observer& observer) {
  if (observer.stop_requested && observer.stop_requested()) {
    throw Error(Status::kInterrupted, "stopped on request; nothing was written");
  }
}

}  // namespace

/// One place for a frame: a stream and memory of its own.
struct DeviceEngine::Slot {
  Card* card = nullptr;
  std::unique_ptr<Stream> stream;
  DeviceMemory memory;
  HostMemory staging;
  bool busy = false;
};

struct DeviceEngine::Card {
  std::unique_ptr<Device> device;
  DeviceInfo info;  ///< as it was found
  std::size_t limit = 0;
  bool lost = false;  ///< it answers no more: no frame goes there
  std::vector<std::unique_ptr<Slot>> slots;
};

class DeviceEngine::Lease {
 public:
  Lease(DeviceEngine& engine, Slot& slot) : engine_(&engine), slot_(&slot) {}
  Lease(Lease&& o) noexcept : engine_(std::exchange(o.engine_, nullptr)), slot_(o.slot_) {}
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  Lease& operator=(Lease&&) = delete;
  ~Lease() {
    if (engine_ != nullptr) engine_->give_back(*slot_, std::uncaught_exceptions() > entered_);
  }
  Slot* operator->() { return slot_; }

 private:
  DeviceEngine* engine_;
  Slot* slot_;
  int entered_ = std::uncaught_exceptions();
};

DeviceEngine::DeviceEngine(std::vector<std::unique_ptr<Device>> devices,
                           const DeviceEngineOptions& options)
    : options_(options) {
  for (auto& device : devices) {
    auto card = std::make_unique<Card>();
    card->device = std::move(device);
    card->info = card->device->info();
    const std::size_t most =
        card->info.free_bytes / 10 * 8;  // the driver keeps threads' stacks beside it
    card->limit = options.memory_bytes == 0 ? most : std::min(options.memory_bytes, most);
    for (int i = 0; i < std::max(1, options.frames_in_flight); ++i) {
      card->slots.push_back(std::make_unique<Slot>());
      card->slots.back()->card = card.get();
    }
    cards_.push_back(std::move(card));
  }
  if (cards_.empty()) throw Error(Status::kDevice, "GPU: no device given");
}

DeviceEngine::~DeviceEngine() {
  for (auto& card : cards_) card->slots.clear();  // streams and memory before their device
}

const DeviceInfo& DeviceEngine::info() const noexcept { return cards_.front()->info; }
std::size_t DeviceEngine::device_count() const noexcept { return cards_.size(); }
std::size_t DeviceEngine::places() const noexcept {
  return cards_.size() * cards_.front()->slots.size();
}

/// The frame on the device may need the processor that the caller has, to get off it: so the wait
/// is without one.
DeviceEngine::Lease DeviceEngine::take_slot(std::size_t least, std::size_t most, Executor& executor,
                                            const Observer& observer) {
  Slot* slot = nullptr;
  {
    const std::lock_guard lock(mutex_);
    slot = free_slot(least, most);
  }
  if (slot == nullptr) {
    executor.idle([&] {
      std::unique_lock lock(mutex_);
      while ((slot = free_slot(least, most)) == nullptr) {
        freed_.wait_for(lock, kStopPoll);
        stop_if_asked(observer);
      }
    });
  }
  return {*this, *slot};
}

/// A place taken, null while all are busy. Called with the mutex held.
DeviceEngine::Slot* DeviceEngine::free_slot(std::size_t least, std::size_t most) {
  bool any_busy = false, any_left = false;
  for (std::size_t i = 0; i < cards_.size(); ++i) {
    Card& card = *cards_[(turn_ + i) % cards_.size()];
    if (card.lost) continue;
    any_left = true;
    std::size_t used = 0;
    Slot* idle = nullptr;
    for (auto& slot : card.slots) {
      if (slot->busy) {
        any_busy = true;
        used += slot->memory.bytes();
      } else if (idle == nullptr || slot->memory.bytes() > idle->memory.bytes()) {
        idle = slot.get();
      }
    }
    const std::size_t share = std::max(least, card.limit / card.slots.size());
    const std::size_t left = card.limit - std::min(used, card.limit);
    if (idle == nullptr || left < least) continue;
    const std::size_t bytes = std::min({most, share, left});
    if (idle->memory.bytes() < bytes || idle->memory.bytes() > left) {
      // idle memory makes room; what a frame needs is seldom different from the last one's
      for (auto& slot : card.slots) {
        if (!slot->busy) slot->memory = DeviceMemory();
      }
      idle->memory = DeviceMemory(*card.device, bytes);
    }
    if (idle->stream == nullptr) idle->stream = card.device->make_stream();
    idle->busy = true;
    turn_ = (turn_ + i + 1) % cards_.size();
    return idle;
  }
  if (!any_left) throw Error(Status::kDevice, "GPU: no device is left");
  if (!any_busy) {
    throw Error(Status::kDevice, "GPU: a frame needs at least " + std::to_string(least >> 20) +
                                     " MiB of device memory, " +
                                     std::to_string(cards_.front()->limit >> 20) +
                                     " MiB may be used (--gpu-memory)");
  }
  return nullptr;
}

void DeviceEngine::give_back(Slot& slot, bool broken) {
  const std::lock_guard lock(mutex_);
  if (broken) {  // nothing that was under way on it may reach the next frame
    slot.stream.reset();
    slot.memory = DeviceMemory();
    slot.staging = HostMemory();
  }
  slot.busy = false;
  freed_.notify_all();
}

bool DeviceEngine::any_left() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(cards_.begin(), cards_.end(), [](const auto& card) { return !card->lost; });
}

std::size_t DeviceEngine::retire_lost(const Observer& observer) {
  const std::lock_guard lock(mutex_);
  std::size_t lost = 0;
  for (std::size_t i = 0; i < cards_.size(); ++i) {
    Card& card = *cards_[i];
    if (card.lost) continue;
    try {
      (void)card.device->info();
    } catch (const Error& e) {
      card.lost = true;
      ++lost;
      observer.warn("device " + std::to_string(i) +
                    " is lost and gets no more frames: " + e.what());
    }
  }
  freed_.notify_all();  // who waits for a place may have none to wait for
  return lost;
}

namespace {

/// Copies a host array piece by piece, on all threads.
template <class To, class From>
void copy_array(To* to, const From* from, std::size_t n, Executor& executor) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  executor.run((n + kPiece - 1) / kPiece, [&](std::size_t i) {
    const std::size_t first = i * kPiece, last = std::min(n, first + kPiece);
    if constexpr (std::is_same_v<To, From>) {
      std::memcpy(to + first, from + first, (last - first) * sizeof(To));
    } else {
      for (std::size_t k = first; k < last; ++k) to[k] = static_cast<To>(from[k]);
    }
  });
}

bool is_double(const PixelArray& a) { return std::holds_alternative<Array2D<double>>(a.data()); }

void stage_pixels(const PixelArray& a, void* to, bool as_double, Executor& executor) {
  std::visit(
      [&](const auto& array) {
        if (as_double) {
          copy_array(static_cast<double*>(to), array.data(), array.size(), executor);
        } else {
          copy_array(static_cast<float*>(to), array.data(), array.size(), executor);
        }
      },
      a.data());
}

/// One frame in one slot.
class FrameRun {
 public:
  /// `result` has its sizes.
  FrameRun(const CcdFrame& ccd, const Problem& problem, Executor& executor,
           const Observer& observer, ExtractResult& result)
      : ccd_(ccd), p_(problem), executor_(executor), observer_(observer), result_(result) {}

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
    DeviceFrame frame(p_, double_pixels(), p_.options.want_model, stream, kernels, executor_,
                      memory.data(), memory.bytes(),
                      {first + staging_bytes(needs) - needs.mail, needs.mail}, shared_bytes);
    std::byte* second = first + ccd_.image.rows() * ccd_.image.cols() * sizeof(double);
    stage_pixels(ccd_.image, first, double_pixels(), executor_);
    stage_pixels(ccd_.ivar, second, double_pixels(), executor_);
    frame.upload(first, second, second + (second - first));
    stop_if_asked(observer_);
    frame.assemble();
    frame.solve();
    frame.diagnose();
    stop_if_asked(observer_);
    frame.decorrelate();
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
      const exact::gpu::DeviceStage stage(stream, "copy out");
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
    Array2D<double>* to[] = {&result_.flux, &result_.ivar, &result_.xflux, &result_.chi2pix,
                             &result_.pixmask_fraction};
    for (std::size_t i = 0; i < 5; ++i) copy_array(to[i]->data(), out + i * n, n, executor_);
    copy_array(result_.resolution.data(), resolution, result_.resolution.size(), executor_);
    if (frame.model() == nullptr) return;
    for (int b = 0; b < p_.nbundle(); ++b) {
      exact::ModelStrip& strip = models[p_.device_bundle[static_cast<std::size_t>(b)]];
      strip.x0 = p_.strip_x[static_cast<std::size_t>(b)];
      strip.y0 = p_.row_first;
      strip.value = Array2D<float>(static_cast<std::size_t>(p_.rows),
                                   static_cast<std::size_t>(p_.strip_pitch));
      copy_array(strip.value.data(), strips + static_cast<std::size_t>(b) * frame.strip_values(),
                 strip.value.size(), executor_);
    }
  }

  static constexpr std::size_t kAlign = 256;
  const CcdFrame& ccd_;
  const Problem& p_;
  Executor& executor_;
  const Observer& observer_;
  ExtractResult& result_;
};

/// Bundles that the device left.
void extract_left(const CcdFrame& ccd, const Problem& p,
                  const std::vector<exact::gpu::LeftToCpu>& left, Executor& executor,
                  Tracer* tracer, ExtractResult& result, std::vector<exact::ModelStrip>& models) {
  if (left.empty()) return;
  exact::FrameContext frame{ccd, p.options, p.grid, p.plan, p.tuning, active_isa()};
  frame.psferr = p.psferr;
  frame.weak_prior = p.weak_prior;
  frame.tracer = tracer;
  exact::Pool<exact::BundleWorkspace> pool;
  executor.run(left.size(), [&](std::size_t i) {
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

}  // namespace

ExtractResult DeviceEngine::extract(const CcdFrame& ccd, const PsfModel& psf,
                                    const ExtractOptions& options, Executor& executor,
                                    const Observer& observer, Tracer* tracer,
                                    DeviceReport* report) {
  exact::Tuning tuning;
  tuning.tolerance_sigma = options.tolerance;
  return extract(ccd, psf, options, tuning, executor, observer, tracer, report);
}

ExtractResult DeviceEngine::extract(const CcdFrame& ccd, const PsfModel& psf,
                                    const ExtractOptions& options, const exact::Tuning& tuning,
                                    Executor& executor, const Observer& observer, Tracer* tracer,
                                    DeviceReport* report) {
  validate(ccd, psf, options);
  Span setup(tracer, "compute/geometry");
  const Problem p =
      exact::gpu::make_problem(psf, options, tuning, active_isa(), executor, observer);
  setup.stop();
  ExtractResult result = exact::empty_result(psf, options);
  result.bundles.resize(p.bundles.size());
  std::vector<exact::ModelStrip> models(options.want_model ? p.bundles.size() : 0);
  std::vector<exact::gpu::LeftToCpu> left = p.left;
  DeviceReport own;
  DeviceReport& r = report != nullptr ? *report : own;
  r = {};
  try {
    if (p.nbundle() > 0) {
      FrameRun run(ccd, p, executor, observer, result);
      const FrameNeeds needs = exact::gpu::frame_needs(p, run.double_pixels(), options.want_model);
      Lease slot = take_slot(needs.fixed + needs.least_scratch, needs.fixed + needs.full_scratch,
                             executor, observer);
      const Span span(tracer, "compute/device");
      const DeviceInfo& info = slot->card->info;
      r.device = info.name;
      r.memory_bytes = slot->memory.bytes();
      if (slot->staging.bytes() < run.staging_bytes(needs)) {
        slot->staging = HostMemory();
        slot->staging = HostMemory(*slot->card->device, run.staging_bytes(needs));
      }
      run.run(*slot->stream,
              info.emulated ? exact::gpu::emulated_kernels() : exact::gpu::cuda_kernels(),
              slot->memory, info.shared_bytes, slot->staging.data(), needs, models, left);
      r.stages = slot->stream->take_stage_times();
    }
  } catch (const Error& e) {
    if (e.status() != Status::kDevice) throw;
    const bool the_last = retire_lost(observer) > 0 && !any_left();
    if (options_.on_error == OnDeviceError::kFail) {
      if (!the_last) throw;
      throw Error(Status::kDevice, std::string(e.what()) + "; no device is left");
    }
    observer.warn(std::string(e.what()) + "; the CPU extracts this frame");
    r.failure = e.what();
    return exact::extract(ccd, psf, options, tuning, active_isa(), executor, observer, tracer);
  }
  for (const auto& l : left) {
    r.cpu_bundles.push_back({p.bundles[l.bundle], l.reason});
    observer.info("fibres " + std::to_string(p.bundles[l.bundle].first) + " to " +
                  std::to_string(p.bundles[l.bundle].last - 1) + " go to the CPU: " + l.reason);
  }
  extract_left(ccd, p, left, executor, tracer, result, models);
  count_unconstrained(result);
  exact::settle_unsolved(options, observer, result);
  if (observer.progress) observer.progress("extract", p.bundles.size(), p.bundles.size());
  if (options.want_model) result.model = exact::join_models(models, psf);
  set_spectral_mask(result, executor);
  return result;
}

std::shared_ptr<DeviceEngine> make_device_engine(Backend backend,
                                                 const DeviceEngineOptions& options) {
  std::vector<std::unique_ptr<Device>> devices;
  if (backend == Backend::kEmulate) {
    devices.push_back(make_emulated_device());
  } else if (backend == Backend::kCuda || backend == Backend::kAuto) {
    const std::string why = why_no_cuda();
    if (!why.empty() && backend == Backend::kCuda)
      throw Error(Status::kDevice, "--backend cuda: " + why);
    for (int i = 0; i < cuda_device_count(); ++i) devices.push_back(open_cuda_device(i));
  }
  if (devices.empty()) return nullptr;
  return std::make_shared<DeviceEngine>(std::move(devices), options);
}

}  // namespace fiberloom
