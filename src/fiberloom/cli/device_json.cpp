// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/cli/device_json.hpp"

#include <string>

#include "loom/json/json.hpp"

namespace fiberloom::cli {
namespace {

Json json_of(const DeviceInfo& info, std::size_t count) {
  return {{"name", info.name},
          {"count", count},
          {"memory_bytes", info.memory_bytes},
          {"multiprocessors", info.multiprocessors},
          {"capability", std::to_string(info.major) + "." + std::to_string(info.minor)},
          {"clock_khz", info.clock_khz},
          {"memory_clock_khz", info.memory_clock_khz},
          {"cache_bytes", info.cache_bytes},
          {"cuda_driver", info.driver},
          {"cuda_runtime", info.runtime}};
}

}  // namespace

Json device_json(const DeviceEngine* engine) {
  return engine == nullptr ? Json(nullptr) : json_of(engine->info(), engine->device_count());
}

Json device_json(const redshift::DeviceScan* scanner) {
  return scanner == nullptr ? Json(nullptr) : json_of(scanner->info(), scanner->device_count());
}

Json taken_over_json(const redshift::DeviceScan* scanner) {
  const auto report = scanner == nullptr ? redshift::DeviceScanReport{} : scanner->report();
  return {{"scans", report.by_cpu}, {"device_failure", report.failure}};
}

}  // namespace fiberloom::cli
