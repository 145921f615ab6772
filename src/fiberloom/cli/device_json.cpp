// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/cli/device_json.hpp"

#include <string>

#include "loom/json/json.hpp"

namespace fiberloom::cli {

Json device_json(const DeviceEngine* engine) {
  if (engine == nullptr) return nullptr;
  const DeviceInfo info = engine->info();
  return {{"name", info.name},
          {"count", engine->device_count()},
          {"memory_bytes", info.memory_bytes},
          {"multiprocessors", info.multiprocessors},
          {"capability", std::to_string(info.major) + "." + std::to_string(info.minor)},
          {"clock_khz", info.clock_khz},
          {"memory_clock_khz", info.memory_clock_khz},
          {"cache_bytes", info.cache_bytes},
          {"cuda_driver", info.driver},
          {"cuda_runtime", info.runtime}};
}

}  // namespace fiberloom::cli
