// SPDX-License-Identifier: BSD-3-Clause
// A step of conjugate gradients on a device: what OffsetSystem::apply() does on the CPU, by the
// same texts, every sum in the same order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "loom/device/device.hpp"
#include "skyloom/mapping/offset_system.hpp"
#include "skyloom/mapping/solve.hpp"

namespace skyloom {

namespace gpu {
struct SkyKernels;
}

/// Runs and pixels of a system on a device. One thread. On a card its results differ from the CPU's
/// by rounding (it has fused multiply-adds), emulated they are the same bytes.
///
/// As SolverVectors it makes whole iterations there: nothing but sums of blocks of unknowns comes
/// back, which are added up in the CPU's order.
class DeviceOffsets final : public SolverVectors {
 public:
  /// The system outlives it; the device is taken over. Throws kDevice: no memory for the system, or
  /// the device fails, apply() too.
  DeviceOffsets(const OffsetSystem& system, std::unique_ptr<Device> device);
  ~DeviceOffsets() override;

  /// Device memory of a system.
  [[nodiscard]] static std::size_t device_bytes(const OffsetSystem& system);

  /// out = A a. Of several processes all call it together: sums of tiles that they share go by way
  /// of the host.
  void apply(std::span<const double> a, std::span<double> out);

  void put(SolverState& state) override;
  void get(SolverState& state) override;
  double apply() override;
  Moved move(double step) override;
  void turn(double factor) override;

 private:
  struct Arrays;
  void apply_there();
  [[nodiscard]] Moved fetch_sums();
  void number_pixels();
  void send_runs();
  void sum_shared();

  const OffsetSystem& system_;
  std::unique_ptr<Device> device_;
  const gpu::SkyKernels& kernels_;
  std::unique_ptr<loom::Stream> stream_;
  std::vector<std::uint32_t> first_pixels_;  ///< of each hit tile; shared ones come first
  std::size_t pixels_ = 0, shared_pixels_ = 0;
  DeviceMemory memory_;
  HostMemory staging_;
  std::unique_ptr<Arrays> arrays_;
};

}  // namespace skyloom
