// SPDX-License-Identifier: BSD-3-Clause
// Streams of noise with a given spectrum: Gaussian numbers of the peer's streams, shaped in
// frequency, two streams a transform.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "loom/base/array.hpp"
#include "skyloom/noise/noise_model.hpp"
#include "skyloom/random/gaussian.hpp"

namespace loom::fft {
class LongPlan;
}

namespace skyloom {

/// One stream to be made.
struct NoiseStream {
  StreamName name;
  std::span<const double> amplitudes;  ///< stream_amplitudes() of NoiseMaker::length()
  std::span<double> out;               ///< samples() numbers; what stands there is replaced
};

/// Numbers that a NoiseMaker works with, one for each thread.
struct NoiseWork {
  Buffer<double> spectrum, work;
};

/// Makes streams of `samples` samples that begin at sample `first` of a session: bit for bit the
/// Gaussian numbers of TOAST, transformed to about 1e-14 of its rms. Safe from any thread.
class NoiseMaker {
 public:
  NoiseMaker(std::size_t samples, std::int64_t first, Isa isa = active_isa());
  ~NoiseMaker();
  NoiseMaker(NoiseMaker&&) noexcept;

  [[nodiscard]] std::size_t samples() const noexcept { return samples_; }
  /// Of the transform: the smallest power of two above 2 samples().
  [[nodiscard]] std::size_t length() const noexcept { return length_; }
  /// Bytes of a NoiseWork.
  [[nodiscard]] std::size_t work_bytes() const noexcept;
  /// One or two streams; which two does not change a number by more than rounding, and pairs are
  /// part of a result's bytes. The mean of each stream is 0.
  void make(std::span<const NoiseStream> streams, NoiseWork& work) const;

 private:
  class Drawn;
  std::size_t samples_, length_;
  std::int64_t first_;
  Isa isa_;
  std::unique_ptr<fft::LongPlan> plan_;
};

}  // namespace skyloom
