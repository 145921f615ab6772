// SPDX-License-Identifier: BSD-3-Clause
// Fast scans on one or several devices. The templates are put on the pixels by the CPU and stay on
// the card for as long as wavelengths and templates do; targets go there group by group, and what
// comes back are chi2, coefficients and evidence at every redshift. scan() may be called from
// several threads, and then scans are in flight together. Results depend on none of that.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "fiberloom/redshift/scan.hpp"
#include "loom/device/backend.hpp"
#include "loom/device/device_places.hpp"

namespace fiberloom::redshift {

struct DeviceScanOptions {
  std::size_t memory_bytes = 0;  ///< of each device; 0: most of what is free
  int in_flight = 2;             ///< scans on each device; fewer where the memory does not suffice
  OnDeviceError on_error = OnDeviceError::kFail;
  TooLarge too_large = TooLarge::kFail;
};

/// What was done so far.
struct DeviceScanReport {
  std::size_t scans = 0;         ///< on devices
  std::size_t by_cpu = 0;        ///< left to the CPU after a failure, or for want of memory
  std::string failure;           ///< the first one
  std::size_t memory_bytes = 0;  ///< most that a scan had
  std::size_t fills = 0;         ///< how often templates went to a card
  std::vector<DeviceStageTime> stages;
};

class DeviceScan final : public FastScanner {
 public:
  /// Takes the devices over; all must be of one kind. Messages go to `observer`.
  DeviceScan(std::vector<std::unique_ptr<Device>> devices, const DeviceScanOptions& options,
             Observer observer = {});

  /// False where the options leave the scan to the CPU. Throws kDevice when a device fails or can
  /// never have the memory.
  [[nodiscard]] bool scan(const TargetSet& set, std::span<Curve> curves,
                          Executor& executor) override;

  /// Of the first device, as it was found.
  [[nodiscard]] const DeviceInfo& info() const noexcept { return places_.cards().front()->info; }
  [[nodiscard]] std::size_t device_count() const noexcept { return places_.cards().size(); }
  /// Is there a device that was not lost?
  [[nodiscard]] bool any_left() const { return places_.any_left(); }
  [[nodiscard]] DeviceScanReport report() const;

 private:
  [[nodiscard]] bool scan_there(const TargetSet& set, std::span<Curve> curves, Executor& executor);
  void leave_to_cpu(const std::string& failure);

  DeviceScanOptions options_;
  Observer observer_;
  DevicePlaces places_;
  mutable std::mutex mutex_;
  DeviceScanReport report_;
};

/// What `backend` asks for, null for the CPU. Throws kDevice when kCuda finds no card; kAuto then
/// leaves everything to the CPU, as it does scans that are too large for the memory.
[[nodiscard]] std::shared_ptr<DeviceScan> make_device_scan(Backend backend,
                                                           DeviceScanOptions options,
                                                           const Observer& observer = {});

}  // namespace fiberloom::redshift
