// SPDX-License-Identifier: BSD-3-Clause
// A block's line integrals made on a device from counts: what prepare_block() does on the CPU, as
// far as it is one number, row or column at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "loom/base/executor.hpp"
#include "loom/device/device.hpp"
#include "tomoloom/prepare/normalize.hpp"
#include "tomoloom/prepare/stripe.hpp"

namespace tomoloom {

namespace gpu {
struct PrepareKernels;
}

/// What is done to a scan's counts.
struct PrepareChoice {
  std::size_t angles = 0, columns = 0;
  std::vector<std::uint32_t> flat_set = {};  ///< of each angle; empty: there is one
  std::size_t flat_sets = 1;
  bool counts = false;  ///< 16-bit counts, else floats
  std::size_t air = 0;
  StripeChoice stripe = {};
};

/// A block's projections [angle][row][column], as they were read, and what makes transmissions of
/// them, one of each set of flats.
struct CountsView {
  std::size_t rows = 0;
  const std::uint16_t* counts = nullptr;  ///< of a choice with counts
  const float* floats = nullptr;          ///< of any other
  std::span<const Gain> gains;
};

/// Its results differ from the CPU's by rounding alone. One block at a time, one thread.
class DevicePrepare {
 public:
  /// kNone, kSf and kTi; others look at a sinogram as a whole.
  [[nodiscard]] static bool knows(Stripe stripe) noexcept;

  /// Of up to `rows` rows; the device outlives it. Throws kDevice: no memory for them.
  DevicePrepare(const PrepareChoice& choice, std::size_t rows, Device& device);
  ~DevicePrepare();

  /// A block that bring() is to make; it outlives those calls. `staging`: page-locked, not in use.
  void begin(const CountsView& block, Stream& stream, HostMemory& staging);
  /// Line integrals of angles [first, first + count) to their places in `all`, memory of the device
  /// of all angles; one run of angles after the other. Counts go by way of `staging`, which holds
  /// as many floats; each place of it is used once.
  void bring(std::size_t first, std::size_t count, float* all, Stream& stream, HostMemory& staging,
             Executor& executor);

 private:
  struct Arrays;
  void transmit(std::size_t first, std::size_t count, float* all, Stream& stream,
                HostMemory& staging, Executor& executor);
  void remove_means(float* all, Stream& stream);
  void titarenko(float* all, Stream& stream);

  PrepareChoice choice_;
  const gpu::PrepareKernels& kernels_;
  DeviceMemory memory_;
  std::unique_ptr<Arrays> arrays_;
  CountsView block_;
};

}  // namespace tomoloom
