// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/cli/device_options.hpp"

#include "loom/base/error.hpp"

namespace fiberloom::cli {

void add_device_options(Options& options, DeviceChoice& choice) {
  // "emulate" is for tests: the device's algorithm on the CPU
  options.choice<Backend>("--backend", &choice.backend,
                          {{"auto", Backend::kAuto},
                           {"cpu", Backend::kCpu},
                           {"cuda", Backend::kCuda},
                           {"emulate", Backend::kEmulate}},
                          "what computes; auto: a CUDA card where there is one",
                          {.value = "auto|cpu|cuda"});
  options.add("--gpu-memory", &choice.memory_gb,
              "GB of each card that may be used; default: most of what is free",
              {.interval = above(0)});
  options.choice<OnDeviceError>("--on-device-error", &choice.options.on_error,
                                {{"fail", OnDeviceError::kFail}, {"cpu", OnDeviceError::kCpu}},
                                "when a card fails: an error, or the CPU does the work");
}

void check_device(const DeviceChoice& choice, Method method) {
  if (method == Method::kExact || choice.backend == Backend::kAuto ||
      choice.backend == Backend::kCpu) {
    return;
  }
  throw Error(Status::kUsage, std::string("--backend ") +
                                  (choice.backend == Backend::kCuda ? "cuda" : "emulate") +
                                  ": --method patch runs on the CPU only");
}

}  // namespace fiberloom::cli
