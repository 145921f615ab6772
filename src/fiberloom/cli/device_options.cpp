// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/cli/device_options.hpp"

#include <CLI/CLI.hpp>

#include "fiberloom/cli/choice.hpp"
#include "fiberloom/cli/limits.hpp"

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

}  // namespace fiberloom::cli
