// SPDX-License-Identifier: BSD-3-Clause
// Noise that detectors have in common: streams, and how strongly each detector sees its own of
// them, by the conventions of TOAST's CommonModeNoise (docs/skyloom/algorithm.md). Knows no files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "skyloom/noise/noise_model.hpp"

namespace skyloom {

struct CommonOptions {
  DetectorNoise noise = {.net = 0, .fmin_hz = 1e-5, .fknee_hz = 1, .slope = 2};  ///< of a stream
  double coupling = 1;      ///< mean of detectors
  double spread = 0;        ///< rms of couplings around it
  bool same_every = false;  ///< couplings are those of all observations and realizations
  std::string by = {};      ///< detectors of one Detector::group share a stream; empty: all do
  [[nodiscard]] bool any() const noexcept { return noise.net > 0; }
};

/// Whose streams and couplings they are.
struct CommonPlace {
  std::uint64_t realization = 0;
  std::uint32_t telescope_uid = 0, observation_uid = 0;
};

/// A stream that detectors share.
struct CommonStream {
  std::string name;
  std::uint32_t uid = 0;  ///< StreamName::detector
  /// Some pair of detectors that is read together (even, odd) has it, and no other one.
  bool of_one_pair = true;
};

/// Each detector has a part in one stream.
struct CommonModes {
  DetectorNoise noise;  ///< of each stream
  std::vector<CommonStream> streams;
  struct Part {
    std::size_t stream = 0;
    double coupling = 0;
  };
  std::vector<Part> parts;  ///< of detectors
};

/// Streams in the order in which detectors come upon them; couplings are Gaussian. Throws
/// kNoiseModel where options.noise is none.
[[nodiscard]] CommonModes common_modes(const CommonOptions& options, const FocalPlane& plane,
                                       const CommonPlace& place);

/// Adds the spectrum of the detector's stream, times its coupling squared.
void add_common_psd(const CommonModes& modes, std::size_t detector, double rate_hz, NoisePsd& to);

}  // namespace skyloom
