// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/bench/scan_checks.hpp"

#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "fiberloom/bench/scan_case.hpp"
#include "fiberloom/redshift/gpu/device_scan.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {
namespace {

using redshift::Curve;
using redshift::DeviceScan;
using redshift::DeviceScanOptions;

constexpr ScanCaseOptions kSmall{.targets = 10, .redshifts = 100, .pixels = 500};

std::unique_ptr<DeviceScan> scanner(const OpenDevice& open, const DeviceScanOptions& options = {}) {
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(open());
  return std::make_unique<DeviceScan>(std::move(devices), options);
}

std::vector<Curve> scan_of(const ScanCase& c, Executor& executor, DeviceScan* device = nullptr) {
  return redshift::scan(c.set, c.templates, c.options, executor, device);
}

/// What a device must have at least, from the words of its error; 0 where there was none.
std::size_t least_memory(const OpenDevice& open, const ScanCase& c, Executor& executor) {
  try {
    (void)scan_of(c, executor, scanner(open, {.memory_bytes = 1}).get());
  } catch (const Error& e) {
    if (e.status() != Status::kDevice) throw;
    const std::string head = "GPU: a scan needs at least ";
    return (std::stoul(std::string(e.what()).substr(head.size())) + 1) << 20;
  }
  return 0;
}

/// Scans of several threads at the same time, each of them the expected one.
bool in_flight(const ScanCase& c, DeviceScan& device, const std::vector<Curve>& expected) {
  std::vector<int> right(4, 0);
  std::vector<std::exception_ptr> errors(right.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < right.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        SerialExecutor own;
        right[i] = same_scan(expected, scan_of(c, own, &device)) ? 1 : 0;
      } catch (...) {
        errors[i] = std::current_exception();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return right == std::vector<int>(right.size(), 1);
}

}  // namespace

ScanVerdict check_scan_agrees(const OpenDevice& open, Executor& executor) {
  const auto c = make_scan_case(kSmall);
  const auto device = scanner(open);
  const auto cpu = scan_of(*c, executor), card = scan_of(*c, executor, device.get());
  const ScanAgreement a = compare_scans(c->set, cpu, card);
  return {a.passed && device->report().scans == 1, a.detail};
}

ScanVerdict check_scan_repeats(const OpenDevice& open, Executor& executor) {
  const auto c = make_scan_case(kSmall);
  const auto device = scanner(open);
  const auto expected = scan_of(*c, executor, device.get());
  if (!same_scan(expected, scan_of(*c, executor, device.get()))) return {false, "again: others"};
  if (device->report().fills != 1) return {false, "the templates did not stay on the card"};
  if (!in_flight(*c, *device, expected)) return {false, "several threads: others"};
  const std::size_t least = least_memory(open, *c, executor);
  if (least == 0) return {false, "a limit of one byte was no error"};
  const auto little = scanner(open, {.memory_bytes = least, .in_flight = 1});
  if (!same_scan(expected, scan_of(*c, executor, little.get()))) {
    return {false, "little memory: others"};
  }
  const std::size_t most = device->report().memory_bytes, used = little->report().memory_bytes;
  return {used < most, print("%zu KiB and %zu KiB", most >> 10, used >> 10)};
}

ScanVerdict check_scan_faults(const OpenDevice& open, Executor& executor) {
  const auto c = make_scan_case(kSmall);
  const auto cpu = scan_of(*c, executor);
  const auto expected = scan_of(*c, executor, scanner(open).get());
  int caught = 0;
  for (const DeviceOperation operation :
       {DeviceOperation::kAllocate, DeviceOperation::kCopy, DeviceOperation::kLaunch,
        DeviceOperation::kSynchronize}) {
    for (const OnDeviceError answer : {OnDeviceError::kFail, OnDeviceError::kCpu}) {
      std::vector<std::unique_ptr<Device>> devices;
      devices.push_back(open());
      Device* faulty = devices.back().get();
      faulty->inject({operation, operation == DeviceOperation::kAllocate ? 0 : 5});
      DeviceScan device(std::move(devices), {.on_error = answer});
      try {
        const auto found = scan_of(*c, executor, &device);
        caught +=
            answer == OnDeviceError::kCpu && device.report().by_cpu == 1 && same_scan(cpu, found);
      } catch (const Error& e) {
        caught += answer == OnDeviceError::kFail && e.status() == Status::kDevice;
      }
      faulty->inject({});
      if (!same_scan(expected, scan_of(*c, executor, &device))) {
        return {false, "the scan after a fault differs"};
      }
    }
  }
  return {caught == 8, print("%d of 8", caught)};
}

}  // namespace fiberloom
