// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/bench/scan_bench.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "fiberloom/bench/scan_case.hpp"
#include "fiberloom/redshift/gpu/device_scan.hpp"

namespace fiberloom {
namespace {

using redshift::DeviceScan;
using SteadyClock = std::chrono::steady_clock;

double seconds_since(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

/// What the stages took since `before`.
std::vector<GpuBenchStage> stages_since(const std::vector<DeviceStageTime>& before,
                                        const std::vector<DeviceStageTime>& now) {
  std::vector<GpuBenchStage> out;
  for (const DeviceStageTime& t : now) {
    const auto old = std::find_if(before.begin(), before.end(),
                                  [&](const DeviceStageTime& o) { return o.name == t.name; });
    const bool known = old != before.end();
    if (known && old->count == t.count) continue;
    out.push_back({t.name, t.seconds - (known ? old->seconds : 0),
                   t.launches - (known ? old->launches : 0), 0, 0});
  }
  return out;
}

/// Operations and bytes that a stage cannot do without: one fma is two operations; an array that
/// fits no cache is read or written once.
void count_scan(const ScanCase& c, const ScanBenchResult& r, std::vector<GpuBenchStage>& stages) {
  double blurs = 0, pairs = 0, columns = 0;
  for (const redshift::Template& t : c.templates) {
    const auto nb = static_cast<double>(t.nbasis()), nz = static_cast<double>(t.redshifts.size());
    blurs += nz * nb * 11;
    pairs += nz * nb * (nb + 1) / 2;
    columns += nz * nb;
  }
  const auto pixels = static_cast<double>(r.pixels), targets = static_cast<double>(r.targets);
  for (GpuBenchStage& s : stages) {
    if (s.name == "products") {
      s.flops = pixels * (2 * blurs + pairs);
      s.bytes = pixels * (8 * columns + 4 * (pairs + columns));
    } else if (s.name == "sums") {
      s.flops = 2 * pixels * targets * (pairs + columns);
      s.bytes = 4 * pixels * (pairs + columns) + 8 * targets * (pairs + columns);
    } else if (s.name == "copy in") {
      s.bytes = 8 * pixels * targets;
    } else if (s.name == "copy out") {
      s.bytes = 8 * targets * (columns + 2 * static_cast<double>(r.redshifts));
    }
  }
}

}  // namespace

void run_scan_bench(std::unique_ptr<Device> device, const ScanBenchOptions& o, Executor& executor,
                    ScanBenchResult& out) {
  const auto c = make_scan_case({.targets = o.targets, .redshifts = o.redshifts, .pixels = 7958});
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(std::move(device));
  DeviceScan scanner(std::move(devices), {.memory_bytes = o.memory_bytes, .in_flight = 1});
  out.targets = o.targets;
  out.templates = static_cast<int>(c->templates.size());
  for (const redshift::WaveGrid& grid : c->set.grids) out.pixels += grid.wave.size();
  std::vector<redshift::Curve> card;
  for (int turn = 0; turn <= o.repeats; ++turn) {  // the first one warms up and fills the card
    const std::vector<DeviceStageTime> before = scanner.report().stages;
    const auto start = SteadyClock::now();
    card = redshift::scan(c->set, c->templates, c->options, executor, &scanner);
    const double wall = seconds_since(start);
    if (turn == 0) {
      out.first_s = wall;
      continue;
    }
    out.scan_s = turn == 1 ? wall : std::min(out.scan_s, wall);
    std::vector<GpuBenchStage> stages = stages_since(before, scanner.report().stages);
    double compute = 0, copies = 0;
    for (const GpuBenchStage& s : stages) {
      (s.name.starts_with("copy") || s.name == "templates" ? copies : compute) += s.seconds;
    }
    if (turn > 1 && compute >= out.compute_s) continue;
    out.compute_s = compute;
    out.copies_s = copies;
    out.stages = std::move(stages);
  }
  for (const redshift::Curve& curve : card) out.redshifts += curve.z.size();
  count_scan(*c, out, out.stages);
  out.memory_bytes = scanner.report().memory_bytes;
  SerialExecutor serial;
  const auto start = SteadyClock::now();
  const auto cpu = redshift::scan(c->set, c->templates, c->options, serial);
  out.cpu_s = seconds_since(start);
  const ScanAgreement agreement = compare_scans(c->set, cpu, card);
  out.difference = agreement.difference;
  if (!agreement.passed || scanner.report().scans == 0) {
    throw Error(Status::kInternal, "not the CPU's result: " + agreement.detail);
  }
}

}  // namespace fiberloom
