// SPDX-License-Identifier: BSD-3-Clause
// Noise that detectors have in common: modes of one or more streams each, and how strongly each
// detector sees which of them, by the conventions of TOAST's CommonModeNoise
// (docs/skyloom/algorithm.md). Knows no files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "skyloom/noise/noise_model.hpp"

namespace skyloom {

/// One mode: all of its streams have one spectrum.
struct CommonOptions {
  DetectorNoise noise = {.net = 0, .fmin_hz = 1e-5, .fknee_hz = 1, .slope = 2};  ///< of a stream
  double coupling = 1;      ///< mean of detectors
  double spread = 0;        ///< rms of couplings around it
  bool same_every = false;  ///< couplings are those of all observations and realizations
  /// A column of the focal plane: detectors that are alike in it share a stream; empty: all do.
  std::string by = {};
  std::string only_in = {};  ///< without `by`: those with the value `only` here alone
  std::string only = {};
  std::string name = "CommonModeNoise";  ///< begins those of the streams: the peer's operator
  std::size_t component = 0;             ///< follows it
  [[nodiscard]] std::string stream_name() const { return name + "_" + std::to_string(component); }
  /// What it asks the focal plane for; empty: nothing.
  [[nodiscard]] const std::string& column() const noexcept { return by.empty() ? only_in : by; }
  [[nodiscard]] bool any() const noexcept { return noise.net > 0; }
};

/// "net=60e-6,fknee=1,fmin=1e-5,slope=2,coupling=1,spread=0.1,fixed,by=COLUMN" (or
/// in=COLUMN:VALUE; name=, component=): a mode, what is not said as in CommonOptions, the component
/// as given. Throws kUsage.
[[nodiscard]] CommonOptions common_of(const std::string& text, std::size_t component);

/// Columns that modes ask the focal plane for, each once.
[[nodiscard]] std::vector<std::string> common_columns(std::span<const CommonOptions> modes);

/// Whose streams and couplings they are.
struct CommonPlace {
  std::uint64_t realization = 0;
  std::uint32_t telescope_uid = 0, observation_uid = 0;
};

/// A stream that detectors share.
struct CommonStream {
  DetectorNoise noise;
  std::size_t mode = 0;
  std::string name;
  std::uint32_t uid = 0;  ///< StreamName::detector
  /// Some pair of detectors that is read together (even, odd) has it, and no other one.
  bool of_one_pair = true;
};

/// The mixing matrix: each detector has a part in at most one stream of each mode.
struct CommonModes {
  std::vector<CommonStream> streams;
  struct Part {
    std::size_t stream = 0;
    double coupling = 0;
  };
  std::vector<std::vector<Part>> parts;  ///< of detectors, streams growing
  /// K^2 s: what the white noise of its streams adds to a detector's.
  [[nodiscard]] double white_psd(std::size_t detector) const noexcept;
};

/// Mode after mode, streams in the order in which detectors come upon them; couplings are Gaussian.
/// Throws kNoiseModel where the noise of a mode is none; kUsage where two streams have one name,
/// where the plane has no such column, and where no detector is in a mode.
[[nodiscard]] CommonModes common_modes(std::span<const CommonOptions> modes,
                                       const FocalPlane& plane, const CommonPlace& place);

/// Adds the spectra of the detector's streams, each times its coupling squared.
void add_common_psd(const CommonModes& modes, std::size_t detector, double rate_hz, NoisePsd& to);

}  // namespace skyloom
