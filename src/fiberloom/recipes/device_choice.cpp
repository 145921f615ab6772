// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/device_choice.hpp"

#include <string>
#include <utility>

namespace fiberloom {

Engine open_engine(const DeviceChoice& choice, Method method, const Observer& observer) {
  if (method != Method::kExact) return Engine(method);
  DeviceEngineOptions options = choice.options;
  options.memory_bytes = static_cast<std::size_t>(choice.memory_gb * 1e9);
  auto device = make_device_engine(choice.backend, options, observer);
  if (device != nullptr) {
    observer.info("device: " + device->info().name + " (" + std::to_string(device->device_count()) +
                  " of it)");
  }
  return Engine(std::move(device));
}

}  // namespace fiberloom
