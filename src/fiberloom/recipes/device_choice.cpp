// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/device_choice.hpp"

#include <string>

namespace fiberloom {

std::shared_ptr<DeviceEngine> open_device(const DeviceChoice& choice, Method method,
                                          const Observer& observer) {
  if (method != Method::kExact) return nullptr;
  DeviceEngineOptions options = choice.options;
  options.memory_bytes = static_cast<std::size_t>(choice.memory_gb * 1e9);
  auto engine = make_device_engine(choice.backend, options, observer);
  if (engine != nullptr) {
    observer.info("device: " + engine->info().name + " (" + std::to_string(engine->device_count()) +
                  " of it)");
  }
  return engine;
}

}  // namespace fiberloom
