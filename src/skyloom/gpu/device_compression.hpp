// SPDX-License-Identifier: BSD-3-Clause
// Samples to runs on a device, pointing included: what expand_pointing() and RunBuilder do on the
// CPU, by the same texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "loom/base/work_pool.hpp"
#include "loom/device/device.hpp"
#include "skyloom/mapping/runs.hpp"
#include "skyloom/pointing/expand.hpp"

namespace skyloom {

/// Takes the boresight of an observation, then its detectors' samples. Its results are those of the
/// CPU's texts without fused multiply-adds where it is emulated; a card's differ by rounding: a sum
/// by some eps, a pixel where a sample lies on a border to some eps.
class DeviceCompression {
 public:
  /// The device outlives it. Throws kDevice: emulation or CUDA is not there.
  DeviceCompression(Device& device, const SkyGrid& grid);
  ~DeviceCompression();

  /// `step`: samples of a baseline, 0: one. Baselines that are longer than a run may be are not
  /// taken.
  [[nodiscard]] static bool takes(std::size_t step, std::size_t samples) noexcept;
  /// A boresight for detectors to come, which stays where it is. Not while one is compressed.
  /// Throws kDevice, as compress().
  void begin(const Boresight& boresight, std::size_t step);
  /// A detector's samples, as many as the boresight has, with a flag each: not 0 is left out, as is
  /// what lies outside a flat grid, which counts as flagged. From any thread.
  [[nodiscard]] Stream compress(const Detector& detector, double weight,
                                std::span<const double> signal,
                                std::span<const std::uint8_t> flags);

  /// Bytes of the device for an observation, and for each thread that compresses: `runs` of a
  /// detector.
  [[nodiscard]] static double shared_bytes(double samples, bool plate) noexcept;
  [[nodiscard]] static double work_bytes(double samples, double runs) noexcept;

 private:
  struct Work;
  struct Arrays;
  void send_samples(Work& work, const Arrays& at, std::span<const double> signal,
                    std::span<const std::uint8_t> flags) const;
  void expand(Work& work, const Arrays& at, const Detector& detector) const;
  void fetch_runs(Work& work, const Arrays& at, Stream& to) const;

  Device& device_;
  SkyGrid grid_;
  const Boresight* boresight_ = nullptr;
  std::size_t samples_ = 0, step_ = 1;
  DeviceMemory rows_;  ///< of the boresight
  WorkPool<Work> works_;
};

}  // namespace skyloom
