// SPDX-License-Identifier: BSD-3-Clause
// What extracts a frame, handed to the recipes as an Executor is. Knows no files.
#pragma once

#include <memory>
#include <utility>

#include "fiberloom/extract/extract.hpp"

namespace fiberloom {

class DeviceEngine;

/// Said with fiberloom:: below: redshift/ has a Method too, which some who include this see.
enum class Method { kExact, kPatch };

/// The exact method on the CPU or on devices, or the peers' on the CPU. Cheap to copy: copies share
/// the devices. Thread-safe, as the engines are.
class Engine {
 public:
  /// On the CPU.
  explicit Engine(fiberloom::Method method = fiberloom::Method::kExact) : method_(method) {}
  /// The exact method on devices; null: on the CPU.
  explicit Engine(std::shared_ptr<DeviceEngine> device) : device_(std::move(device)) {}

  /// As extract_exact() and extract_patch(); what a device did is in the result.
  [[nodiscard]] ExtractResult extract(const CcdFrame& ccd, const PsfModel& psf,
                                      const ExtractOptions& options, Executor& executor,
                                      const Observer& observer = {},
                                      Tracer* tracer = nullptr) const;

  [[nodiscard]] fiberloom::Method method() const noexcept { return method_; }
  /// Null: the CPU computes.
  [[nodiscard]] DeviceEngine* device() const noexcept { return device_.get(); }

 private:
  fiberloom::Method method_ = fiberloom::Method::kExact;
  std::shared_ptr<DeviceEngine> device_;
};

/// Has a device no code for this?
[[nodiscard]] bool needs_cpu(const PsfModel& psf, const ExtractOptions& options);

}  // namespace fiberloom
