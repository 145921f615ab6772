// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/cli/device_options.hpp"

#include <CLI/CLI.hpp>

#include "fiberloom/cli/choice.hpp"
#include "fiberloom/cli/limits.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::cli {

void add_device_options(CLI::App& app, DeviceChoice& choice) {
  const auto group = "Running";
  // "emulate" is for tests: the device's algorithm on the CPU
  add_choice<Backend>(app, "--backend", choice.backend,
                      {{"auto", Backend::kAuto},
                       {"cpu", Backend::kCpu},
                       {"cuda", Backend::kCuda},
                       {"emulate", Backend::kEmulate}},
                      "what computes; auto: a CUDA card where there is one")
      ->option_text("auto|cpu|cuda")
      ->group(group);
  app.add_option("--gpu-memory", choice.memory_gb,
                 "GB of each card that may be used; default: most of what is free")
      ->check(positive())
      ->group(group);
  add_choice<OnDeviceError>(app, "--on-device-error", choice.options.on_error,
                            {{"fail", OnDeviceError::kFail}, {"cpu", OnDeviceError::kCpu}},
                            "when a card fails: an error, or the CPU takes the frame")
      ->group(group);
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
