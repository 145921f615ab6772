// SPDX-License-Identifier: BSD-3-Clause
// A detector's samples behind a half-wave plate that turns, demodulated: what is slow of them, and
// what goes with cosine and sine of four times the plate's angle. Knows no detectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "loom/fft/toeplitz.hpp"
#include "skyloom/filters/harmonics.hpp"
#include "skyloom/foundation.hpp"
#include "skyloom/pointing/stretch.hpp"

namespace skyloom {

struct DemodulationOptions {
  bool on = false;
  double cut = 0.95;     ///< of the low-pass, in turns of the plate; the band is 4 turns +- that
  std::size_t skip = 3;  ///< of so many samples one is kept
};

/// Length of a filter that knows `frequency` (of the rate): the least 2^k - 1, k whole, for which
/// 2^k is not below ten of its periods (the peer's).
[[nodiscard]] std::size_t filter_length(double frequency) noexcept;

/// A sinc under Hamming's window: frequencies from `low` to `high` (of the rate) pass, 1 in the
/// middle of them, or at 0 where `low` is 0. From the middle tap, which is the first, outward:
/// `length` is odd. The taps of scipy's firwin to some eps.
[[nodiscard]] std::vector<double> filter_taps(double low, double high, std::size_t length);

/// Streams, one number for each sample that is kept.
struct DemodulatedStreams {
  std::span<double> slow;          ///< low-passed
  std::span<double> cosine, sine;  ///< low-passed of 2 cos, 2 sin times what is in the band
};

/// Cosine and sine of what turns, sample by sample.
struct Carrier {
  std::span<const double> cosine, sine;
};

struct DemodulationWork {
  std::vector<double> band, product, passed;
  fft::ToeplitzWork transform;
};

class Demodulator {
 public:
  /// Taps from the middle outward.
  Demodulator(std::vector<double> low_pass, std::vector<double> band_pass, std::size_t skip);
  /// Of a plate that turns so often a sample.
  Demodulator(const DemodulationOptions& options, double turns);

  /// Samples of a stream that are kept of so many.
  [[nodiscard]] std::size_t kept(std::size_t samples) const noexcept {
    return (samples + skip_ - 1) / skip_;
  }
  [[nodiscard]] std::size_t skip() const noexcept { return skip_; }
  /// Of the low-pass: so many samples at either end are not to be used.
  [[nodiscard]] std::size_t length() const noexcept { return 2 * low_pass_.lags().size() - 1; }
  /// Samples outside count as 0. Safe from any thread. O(n log(length)).
  void apply(std::span<const double> values, const Carrier& carrier, DemodulationWork& work,
             const DemodulatedStreams& out) const;
  /// Flags of what is kept: at the ends (length() samples), and where the low-pass has less than
  /// kLeastShare of its sum on samples whose flag is 0.
  void flag(std::span<const std::uint8_t> flags, std::span<std::uint8_t> out) const;

  static constexpr double kLeastShare = 0.9;

 private:
  std::size_t skip_;
  fft::ToeplitzFilter low_pass_, band_pass_;
  std::vector<double> sums_;  ///< of the low-pass's taps, from the first one on
};

/// Flagged samples, and those that are no signal, become what offset, slope and harmonics 1 to 4 of
/// the plate say that fit the good ones within a turn around them, more where those are too few;
/// a straight line where none do. `templates` has these harmonics and a trend of order 1, `turn`
/// are the samples of a turn.
void fill_gaps(const HarmonicFilter& templates, std::size_t turn, std::span<double> values,
               std::span<const std::uint8_t> flags);

/// What fill_gaps() asks for.
[[nodiscard]] HarmonicTemplate gap_template();

}  // namespace skyloom
