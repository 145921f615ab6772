// SPDX-License-Identifier: BSD-3-Clause
// The exact engine on one or several devices: extract() may be called from several threads, and
// then frames are in flight together. Results depend on none of that.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fiberloom/extract/exact/bundle.hpp"
#include "fiberloom/extract/exact/gpu/camera_geometry.hpp"
#include "fiberloom/extract/extract.hpp"
#include "loom/device/backend.hpp"
#include "loom/device/device_places.hpp"

namespace fiberloom {

struct DeviceEngineOptions {
  std::size_t memory_bytes = 0;  ///< of each device; 0: most of what is free
  int frames_in_flight = 3;      ///< on each device; fewer where the memory does not suffice
  OnDeviceError on_error = OnDeviceError::kFail;
  TooLarge too_large = TooLarge::kFail;
};

class DeviceEngine {
 public:
  /// Takes the devices over. All must be of one kind.
  DeviceEngine(std::vector<std::unique_ptr<Device>> devices, const DeviceEngineOptions& options);
  DeviceEngine(const DeviceEngine&) = delete;
  DeviceEngine& operator=(const DeviceEngine&) = delete;

  /// As extract_exact(); what the device did is in the result. Thread-safe; waits for a free place
  /// on a device, without keeping a processor of the executor from others. Throws kDevice when the
  /// memory can never suffice or, with kFail, when the device fails.
  [[nodiscard]] ExtractResult extract(const CcdFrame& ccd, const PsfModel& psf,
                                      const ExtractOptions& options, Executor& executor,
                                      const Observer& observer = {}, Tracer* tracer = nullptr);
  /// The same with the knobs that only tests turn.
  [[nodiscard]] ExtractResult extract(const CcdFrame& ccd, const PsfModel& psf,
                                      const ExtractOptions& options, const exact::Tuning& tuning,
                                      Executor& executor, const Observer& observer, Tracer* tracer);
  /// Of the first device, as it was found.
  [[nodiscard]] const DeviceInfo& info() const noexcept;
  [[nodiscard]] std::size_t device_count() const noexcept;
  /// Frames that may be on all devices together, where their memory suffices.
  [[nodiscard]] std::size_t places() const noexcept;
  /// What it keeps from frame to frame on the host, page-locked memory aside: at most.
  static constexpr std::size_t kKeptBytes =
      exact::gpu::GeometryStore::kMost * exact::gpu::GeometryStore::kCameraBytes;
  /// Is there a device that was not lost?
  [[nodiscard]] bool any_left() const;

 private:
  void note_failure(const Error& e, const Observer& observer);
  DeviceEngineOptions options_;
  DevicePlaces places_;
  exact::gpu::GeometryStore geometry_;
};

/// The engine that `backend` asks for, null for the CPU. Cards that are too old or cannot be opened
/// are left out. Throws kDevice when kCuda finds none; kAuto then leaves everything to the CPU, as
/// it does frames that are too large for the memory.
[[nodiscard]] std::shared_ptr<DeviceEngine> make_device_engine(Backend backend,
                                                               DeviceEngineOptions options,
                                                               const Observer& observer = {});

}  // namespace fiberloom
