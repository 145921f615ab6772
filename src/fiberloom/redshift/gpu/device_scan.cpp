// SPDX-License-Identifier: BSD-3-Clause
// One scan on a device: memory, launches, and what the CPU makes of the results.
#include "fiberloom/redshift/gpu/device_scan.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "fiberloom/redshift/gpu/scan_device_kernels.hpp"
#include "fiberloom/redshift/gpu/scan_memory.hpp"
#include "fiberloom/redshift/gpu/scan_problem.hpp"
#include "loom/base/stop.hpp"
#include "loom/device/device_stage.hpp"

namespace fiberloom::redshift {
namespace {

using gpu::CurveGroup;
using gpu::CurvePlan;
using gpu::ScanArrays;
using gpu::ScanNeeds;
using gpu::ScanProblem;
using gpu::ScanScratch;

class ScanRun {
 public:
  ScanRun(const ScanProblem& problem, const ScanNeeds& needs, DevicePlaces::Lease& place,
          Executor& executor)
      : p_(problem),
        place_(place),
        stream_(*place->stream),
        kernels_(place->card->info.emulated ? gpu::emulated_scan_kernels()
                                            : gpu::cuda_scan_kernels()),
        executor_(executor),
        resident_(place->memory.bytes() >= needs.resident + needs.least ? needs.resident : 0),
        sampled_bytes_(needs.sampled),
        base_(static_cast<std::byte*>(place->memory.data())),
        uploads_(static_cast<std::byte*>(place->staging.data())),
        results_(reinterpret_cast<double*>(uploads_ + needs.upload)),
        staged_(uploads_ + needs.upload + needs.results),
        arena_(base_ + resident_, place->memory.bytes() - resident_, &stream_),
        arrays_(p_, arena_) {}

  /// True when the templates had to go to the card.
  bool run() {
    upload();
    const std::uint64_t content = resident_ > 0 ? p_.content(executor_) : 0;
    const bool fill = resident_ > 0 && place_->content != content;
    if (resident_ == 0) place_->content = 0;
    if (fill) {
      place_->content = 0;
      stream_.renew(base_, resident_, 0);
      for (const CurvePlan& plan : p_.plans()) {
        send_templates(plan, 0, plan.packs, resident_at(plan, 0));
      }
      place_->content = content;
    }
    for (const CurveGroup& group : p_.groups()) scan_group(group);
    {
      const DeviceStage stage(stream_, "copy out");
      stream_.copy_out(results_, arrays_.results, p_.result_doubles() * sizeof(double));
    }
    stream_.synchronize();
    settle();
    return fill || resident_ == 0;
  }

 private:
  template <class T>
  void send(const T* device, std::span<const T> values) {
    if (values.empty()) return;
    std::memcpy(uploads_, values.data(), values.size_bytes());
    stream_.copy_in(const_cast<T*>(device), uploads_, values.size_bytes());
    uploads_ += gpu::aligned(values.size_bytes());
  }

  void upload() {
    const DeviceStage stage(stream_, "copy in");
    send(arrays_.first, p_.tile_first());
    send(arrays_.pixels, p_.tile_pixels());
    send(arrays_.reached, p_.reached());
    send(arrays_.pack_tables, p_.pack_tables());
    send(arrays_.rows, p_.rows());
    send(arrays_.tables, p_.tables());
    send(arrays_.sky, p_.sky());
    send(arrays_.weight_unit, std::span<const double>(p_.fast().weight_unit()));
    send(arrays_.flux_unit, std::span<const double>(p_.fast().flux_unit()));
    const float *weight = arrays_.weight, *weighted_flux = arrays_.weighted_flux;
    for (const FastScan::Grid& grid : p_.fast().grids()) {
      send(weight, std::span(grid.weight.data(), grid.weight.size()));
      send(weighted_flux, std::span(grid.weighted_flux.data(), grid.weighted_flux.size()));
      weight += grid.weight.size();
      weighted_flux += grid.weighted_flux.size();
    }
  }

  [[nodiscard]] double* resident_at(const CurvePlan& plan, std::size_t pack) const {
    return reinterpret_cast<double*>(base_) + plan.sampled_at + pack * plan.pack_doubles;
  }

  /// Packs [first, last) of a template onto the pixels, by the CPU's own text, and to `to`.
  void send_templates(const CurvePlan& plan, std::size_t first, std::size_t last, double* to) {
    const Sampler& sampler = plan.curve->fitter->sampler();
    const std::size_t pack_bytes = plan.pack_doubles * sizeof(double);
    const std::size_t most = std::max<std::size_t>(sampled_bytes_ / pack_bytes, 1);
    auto* const staged = reinterpret_cast<double*>(staged_);
    for (std::size_t pack = first; pack < last; pack += most) {
      const std::size_t count = std::min(most, last - pack);
      stream_.synchronize();  // the last copy has read what it had to
      executor_.run(count, [&](std::size_t k) {
        sampler.sample(ScanProblem::redshifts(plan, pack + k), staged + k * plan.pack_doubles);
      });
      const DeviceStage stage(stream_, "templates");
      stream_.copy_in(to + (pack - first) * plan.pack_doubles, staged, count * pack_bytes);
    }
  }

  /// As few launches as the memory allows, of as many packs each.
  void scan_group(const CurveGroup& group) {
    if (group.packs == 0) return;
    const bool streamed = resident_ == 0;
    const CurvePlan& plan = p_.plans()[group.first_plan];
    std::size_t launches = 1, packs = group.packs;
    while (packs > 1 && ScanScratch::bytes(p_, plan, packs, streamed) > arena_.left()) {
      packs = (group.packs + launches) / (launches + 1);
      ++launches;
    }
    for (std::size_t first = 0; first < group.packs; first += packs) {
      const std::size_t count = std::min(packs, group.packs - first);
      Arena arena = arena_;
      const ScanScratch scratch(p_, plan, count, streamed, arena);
      if (streamed) send_packs(group, first, first + count, scratch.sampled);
      launch(plan, first, count, streamed ? scratch.sampled : resident_at(plan, first), scratch);
    }
  }

  /// Packs [first, last) of a group, from the templates that have a share in them.
  void send_packs(const CurveGroup& group, std::size_t first, std::size_t last, double* to) {
    std::size_t before = 0;  // packs of the templates so far
    for (std::size_t k = group.first_plan; k < group.first_plan + group.plans; ++k) {
      const CurvePlan& plan = p_.plans()[k];
      const std::size_t from = std::max(first, before), end = std::min(last, before + plan.packs);
      if (from < end) {
        send_templates(plan, from - before, end - before, to + (from - first) * plan.pack_doubles);
      }
      before += plan.packs;
    }
  }

  /// Numbers behind those tables of each pack from `pack` on.
  [[nodiscard]] gpu::OwnNumbers own(std::size_t pack, std::size_t at) const {
    return {arrays_.tables, arrays_.pack_tables + pack, static_cast<int>(at)};
  }

  /// `count` packs from `first` on of those of a group, whose first template's plan this is.
  void launch(const CurvePlan& plan, std::size_t first, std::size_t count, const double* sampled,
              const ScanScratch& scratch) {
    const auto packs = static_cast<long>(count);
    const auto tiles = static_cast<int>(p_.tiles());
    const auto targets = static_cast<long>(p_.targets());
    const auto kind = static_cast<std::size_t>(gpu::basis_kind(plan.nb));
    const std::size_t pack = plan.first_pack + first;
    double* const results =
        arrays_.results + plan.result_at + first * p_.targets() * plan.result_doubles;
    double* const normal = plan.solved ? scratch.normal : results;
    {
      const DeviceStage stage(stream_, "products");
      const gpu::ProductArgs args{
          {tiles, static_cast<int>(p_.fast().ndiag()), arrays_.first, arrays_.pixels, arrays_.rows},
          plan.nb,
          static_cast<long>(plan.pack_doubles),
          sampled,
          own(pack, plan.scale_at),
          scratch.columns};
      kernels_.product[kind](stream_, packs * tiles * gpu::kTileRows * kLanes, args);
    }
    {
      const DeviceStage stage(stream_, "sums");
      const gpu::GatherArgs args{tiles,
                                 plan.nb,
                                 p_.sky_terms(),
                                 static_cast<int>(p_.fast().groups()),
                                 arrays_.weight,
                                 arrays_.weighted_flux,
                                 arrays_.weight_unit,
                                 arrays_.flux_unit,
                                 own(pack, plan.unit_at),
                                 scratch.columns,
                                 arrays_.reached + pack * (1 + p_.set().sky_terms) * p_.tiles(),
                                 normal};
      kernels_.sum(stream_, packs * gpu::ScanSumKernel::blocks(args), args);
    }
    if (!plan.solved) return;
    const DeviceStage stage(stream_, "solve");
    const gpu::SolveArgs args{
        plan.nb,       plan.components, p_.sky_terms(), targets,
        normal,        arrays_.sky,     own(pack, 0),   own(pack, plan.constant_at),
        scratch.parts, results};
    kernels_.solve[kind](stream_, packs * targets * kLanes, args);
  }

  /// What only the CPU knows of a target: which pixels no template reaches, what no model leaves.
  void settle() {
    constexpr std::size_t kPacksOfTask = 16;
    for (const CurvePlan& plan : p_.plans()) {
      executor_.run((plan.packs + kPacksOfTask - 1) / kPacksOfTask, [&](std::size_t task) {
        PackFit fit;
        const std::size_t first = task * kPacksOfTask;
        for (std::size_t k = first; k < std::min(first + kPacksOfTask, plan.packs); ++k) {
          settle_pack(plan, k, fit);
        }
      });
    }
  }

  void settle_pack(const CurvePlan& plan, std::size_t pack, PackFit& fit) const {
    const Fitter& fitter = *plan.curve->fitter;
    const ZPack z = ScanProblem::redshifts(plan, pack);
    const std::vector<Sampler::Reach> reach = fitter.reach(z);
    const double* from = results_ + plan.result_at + pack * p_.targets() * plan.result_doubles;
    for (std::size_t t = 0; t < p_.set().targets.size(); ++t, from += plan.result_doubles) {
      const PreparedTarget& target = p_.set().targets[t];
      if (plan.solved) {
        std::copy_n(from, kLanes, fit.chi2.begin());
        std::copy_n(from + kLanes, kLanes, fit.evidence.begin());
        fit.coefficients.assign(from + 2 * kLanes, from + plan.result_doubles);
        fitter.settle(target, z, reach, fit);
      } else {
        fitter.finish(target, z, reach, from, kLeastGatheredPivot, fit);
      }
      store(fit, t, pack * kLanes, *plan.curve);
    }
  }

  const ScanProblem& p_;
  DevicePlaces::Lease& place_;
  Stream& stream_;
  const gpu::ScanDeviceKernels& kernels_;
  Executor& executor_;
  std::size_t resident_;  ///< bytes of the templates that stay; 0: they do not
  std::size_t sampled_bytes_;
  std::byte* base_;
  std::byte* uploads_;
  double* results_;
  std::byte* staged_;
  Arena arena_;
  ScanArrays arrays_;
};

void add_stages(const std::vector<DeviceStageTime>& from, std::vector<DeviceStageTime>& to) {
  for (const DeviceStageTime& t : from) {
    const auto same = std::find_if(to.begin(), to.end(),
                                   [&](const DeviceStageTime& o) { return o.name == t.name; });
    DeviceStageTime& sum = same != to.end() ? *same : to.emplace_back(DeviceStageTime{t.name});
    sum.seconds += t.seconds;
    sum.count += t.count;
    sum.launches += t.launches;
  }
}

}  // namespace

DeviceScan::DeviceScan(std::vector<std::unique_ptr<Device>> devices,
                       const DeviceScanOptions& options, Observer observer)
    : options_(options),
      observer_(std::move(observer)),
      places_(std::move(devices),
              {.memory_bytes = options.memory_bytes, .places = options.in_flight, .work = "scan"}) {
}

bool DeviceScan::scan(const TargetSet& set, std::span<Curve> curves, Executor& executor) {
  if (set.grids.empty()) return false;  // nobody has a pixel
  try {
    return scan_there(set, curves, executor);
  } catch (const Error& e) {
    if (e.status() != Status::kDevice) throw;
    const Error told = places_.after_failure(e, observer_);
    if (options_.on_error == OnDeviceError::kFail) throw Error(told);
    observer_.warn(std::string(e.what()) + "; the CPU scans these targets");
    leave_to_cpu(e.what());
    return false;
  }
}

void DeviceScan::leave_to_cpu(const std::string& failure) {
  const std::lock_guard lock(mutex_);
  ++report_.by_cpu;
  if (report_.failure.empty()) report_.failure = failure;
}

bool DeviceScan::scan_there(const TargetSet& set, std::span<Curve> curves, Executor& executor) {
  const ScanProblem problem(set, curves, executor);
  const ScanNeeds needs(problem);
  if (options_.too_large == TooLarge::kCpu && any_left() && needs.least > places_.most_bytes()) {
    observer_.info("the scan needs more memory than the device has; the CPU makes it");
    leave_to_cpu({});
    return false;
  }
  DevicePlaces::Lease place = places_.take(needs.least, needs.most, executor, observer_);
  if (place->staging.bytes() < needs.staging()) {
    place->staging = HostMemory();
    place->staging = HostMemory(*place->card->device, needs.staging());
  }
  const bool filled = ScanRun(problem, needs, place, executor).run();
  const std::vector<DeviceStageTime> stages = place->stream->take_stage_times();
  const std::lock_guard lock(mutex_);
  ++report_.scans;
  report_.fills += filled ? 1 : 0;
  report_.memory_bytes = std::max(report_.memory_bytes, place->memory.bytes());
  add_stages(stages, report_.stages);
  return true;
}

DeviceScanReport DeviceScan::report() const {
  const std::lock_guard lock(mutex_);
  return report_;
}

std::shared_ptr<DeviceScan> make_device_scan(Backend backend, DeviceScanOptions options,
                                             const Observer& observer) {
  std::vector<std::unique_ptr<Device>> devices = open_devices(backend, observer);
  if (devices.empty()) return nullptr;
  if (backend == Backend::kAuto) options.too_large = TooLarge::kCpu;
  return std::make_shared<DeviceScan>(std::move(devices), options, observer);
}

}  // namespace fiberloom::redshift
