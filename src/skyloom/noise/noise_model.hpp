// SPDX-License-Identifier: BSD-3-Clause
// Power spectra of detectors: analytic, or given at some frequencies. Knows no files.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "skyloom/foundation.hpp"
#include "skyloom/pointing/focal_plane.hpp"

namespace skyloom {

/// One-sided in frequency, two-sided in norm, as the field has it: white noise of NET n is n^2.
struct NoisePsd {
  std::vector<double> frequency_hz;  ///< growing; the last is the Nyquist frequency
  std::vector<double> psd;           ///< K^2 s
  friend bool operator==(const NoisePsd&, const NoisePsd&) = default;
};

/// A NET whose square, and what is summed with its inverse, double precision holds with room.
inline constexpr double kLeastNet = 1e-30, kMostNet = 1e30;
[[nodiscard]] constexpr bool is_sound_net(double net) noexcept {
  return net >= kLeastNet && net <= kMostNet;
}

/// Throws kNoiseModel where frequencies do not grow, or the spectrum is below 0 or no number
/// somewhere, or 0 everywhere. `name` is for the message.
void check_spectrum(const NoisePsd& model, const std::string& name);

/// NET^2 (f^slope + fknee^slope) / (f^slope + fmin^slope) at 1e-9 Hz 1.4^k and at the Nyquist
/// frequency (TOAST's grid: what lies between is interpolated, so the grid is part of the model).
/// Throws kNoiseModel where the NET is not sound, the rate not above 0, a frequency or the slope
/// below 0, or 0 < fknee < fmin. `name` is for the message.
[[nodiscard]] NoisePsd analytic_psd(const DetectorNoise& noise, double rate_hz,
                                    const std::string& name);

/// 1 / ((NET^2 + common_psd) rate): the weight of a sample, 1/K^2; 0 where the NET is 0.
[[nodiscard]] double sample_weight(const Detector& detector, double rate_hz) noexcept;

/// Amplitudes of the frequencies 0 ... length / 2 of a stream of `length` samples: sqrt(PSD rate
/// length / 2), interpolated linearly in logarithms as TOAST's compiled code does it (frequencies
/// k rate / (length - 1), both axes shifted a little from 0), 0 at frequency 0. Throws kNoiseModel
/// where the model is not positive, begins above rate / (length - 1) or ends off the Nyquist
/// frequency by more than 1 %.
[[nodiscard]] std::vector<double> stream_amplitudes(const NoisePsd& model, double rate_hz,
                                                    std::size_t length, const std::string& name);

}  // namespace skyloom
