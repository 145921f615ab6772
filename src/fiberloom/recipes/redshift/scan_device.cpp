// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift/scan_device.hpp"

#include <string>

#include "fiberloom/recipes/redshift/redshift_option_table.hpp"
#include "loom/base/error.hpp"

namespace fiberloom {

void check_scan_device(const DeviceChoice& choice, RedshiftMethod method) {
  if (method == RedshiftMethod::kFast || choice.backend == Backend::kAuto ||
      choice.backend == Backend::kCpu) {
    return;
  }
  throw Error(Status::kUsage,
              std::string("--backend ") + (choice.backend == Backend::kCuda ? "cuda" : "emulate") +
                  ": --method " + redshift_method_name(method) + " runs on the CPU only");
}

std::shared_ptr<redshift::DeviceScan> open_scan_device(const DeviceChoice& choice,
                                                       RedshiftMethod method,
                                                       const Observer& observer) {
  check_scan_device(choice, method);
  if (method != RedshiftMethod::kFast) return nullptr;
  redshift::DeviceScanOptions options;
  options.memory_bytes = static_cast<std::size_t>(choice.memory_gb * 1e9);
  options.on_error = choice.options.on_error;
  auto device = redshift::make_device_scan(choice.backend, options, observer);
  if (device != nullptr) {
    observer.info("device: " + device->info().name + " (" + std::to_string(device->device_count()) +
                  " of it)");
  }
  return device;
}

}  // namespace fiberloom
