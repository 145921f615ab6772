// SPDX-License-Identifier: BSD-3-Clause
// The power spectrum of samples, as noise models have it: means of periodograms (Welch 1967), in
// bands of frequency.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace loom::fft {
class LongPlan;
}

namespace skyloom {

/// Bands of streams of one length and rate.
class SpectrumMeter {
 public:
  /// Pieces are a third of the samples long at most, a power of two from 64 to 2^18. Fewer than 192
  /// samples have no bands.
  SpectrumMeter(std::size_t samples, double rate_hz);
  ~SpectrumMeter();

  /// Middles of the bands, Hz, growing: 12 and fewer an octave, from the second frequency of a
  /// piece to the Nyquist frequency.
  [[nodiscard]] const std::vector<double>& frequencies() const noexcept { return frequencies_; }
  /// |F|^2 / rate of each band, mean of pieces that overlap by half, under Hann's window, without
  /// their means: white noise of NET n is n^2. A sample that is left out (flags not 0, or not
  /// finite) lies on a straight line between its neighbours; pieces that have less than half of
  /// their samples do not count, what others lack is made up for. Empty where none counts. Safe
  /// from any thread.
  [[nodiscard]] std::vector<double> measure(std::span<const double> values,
                                            std::span<const std::uint8_t> flags) const;

 private:
  std::size_t samples_, length_ = 0;
  double rate_hz_;
  std::unique_ptr<fft::LongPlan> plan_;
  std::vector<double> window_, frequencies_;
  std::vector<std::size_t> edges_;  ///< first frequency of each band, and the end
};

}  // namespace skyloom
