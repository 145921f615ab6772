// SPDX-License-Identifier: BSD-3-Clause
// The body for programs built without CUDA: says so.
#include "loom/device/device.hpp"

namespace loom {

std::string why_no_cuda() { return "CUDA is not compiled into this program"; }
int cuda_device_count() noexcept { return 0; }
std::unique_ptr<Device> open_cuda_device(int, CardWait) {
  throw Error(Status::kDevice, "GPU: " + why_no_cuda());
}

}  // namespace loom
