// SPDX-License-Identifier: BSD-3-Clause
#include "loom/device/backend.hpp"

#include <string>

#include "loom/base/error.hpp"
#include "loom/device/emulated_device.hpp"

namespace loom {
namespace {

/// Kernels are compiled for 8.0 and 9.0, and for what comes after.
constexpr int kOldestCapability = 80;

/// Cards that can be used, all of one capability; `why` tells of those that cannot.
std::vector<std::unique_ptr<Device>> open_cards(std::string& why) {
  std::vector<std::unique_ptr<Device>> cards;
  int first = 0;
  for (int i = 0; i < cuda_device_count(); ++i) {
    try {
      auto card = open_cuda_device(i);
      const DeviceInfo info = card->info();
      if (info.capability() < kOldestCapability) {
        throw Error(Status::kDevice, "GPU: " + info.name + " has compute capability " +
                                         std::to_string(info.major) + "." +
                                         std::to_string(info.minor) + ", 8.0 is needed");
      }
      if (!cards.empty() && info.capability() != first) {
        throw Error(Status::kDevice, "GPU: " + info.name + " is of another kind than the first");
      }
      first = info.capability();
      cards.push_back(std::move(card));
    } catch (const Error& e) {
      why += (why.empty() ? "" : "; ") + std::string(e.what());
    }
  }
  return cards;
}

}  // namespace

std::vector<std::unique_ptr<Device>> open_devices(Backend backend, const Observer& observer) {
  std::vector<std::unique_ptr<Device>> devices;
  if (backend == Backend::kEmulate) {
    devices.push_back(make_emulated_device());
  } else if (backend == Backend::kCuda || backend == Backend::kAuto) {
    std::string why = why_no_cuda();
    const bool none = !why.empty();
    if (!none) devices = open_cards(why);
    if (devices.empty() && backend == Backend::kCuda) {
      throw Error(Status::kDevice, "--backend cuda: " + why);
    }
    if (!none && !why.empty()) observer.info("device not used: " + why);
  }
  return devices;
}

int device_kind(const DeviceInfo* info) noexcept {
  if (info == nullptr) return 0;
  return info->emulated ? 1 : info->capability();
}

}  // namespace loom
