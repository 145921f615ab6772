// SPDX-License-Identifier: BSD-3-Clause
// The noise models of TOAST's HDF5 observations: a stream for each detector, or mixtures of
// streams. For stored_tod.cpp.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "skyloom/noise/noise_model.hpp"

namespace loom::hdf5 {
class Reader;
}

namespace skyloom {

/// Adds noise from metadata/MODEL/analytic with what its mixing_matrix has of other streams, or
/// else as white noise from its detector_weights. Returns the sampling rate: the model's where it
/// has one, else `rate_hz`, that of the timestamps, whose digits are few. Throws kNoiseModel where
/// there is neither table, a detector is not in it, or the rates are not those of one stream.
double read_noise(const hdf5::Reader& file, const std::string& model, double rate_hz,
                  std::vector<Detector>& detectors);

/// Is metadata/MODEL a mixture of streams?
[[nodiscard]] bool has_mixed_noise(const hdf5::Reader& file, const std::string& model);

/// Whether it has spectra at all; else weights alone, which tell of no frequency.
[[nodiscard]] bool has_spectra(const hdf5::Reader& file, const std::string& model);

/// Spectra of the streams of a mixture.
class MixedSpectra {
 public:
  /// From the analytic table, or else from the sets of spectra. Throws kNoiseModel.
  MixedSpectra(const hdf5::Reader& file, const std::string& model, double rate_hz);
  /// The sum of its streams' spectra, each times the coupling squared. Throws kNoiseModel where a
  /// stream has none.
  [[nodiscard]] NoisePsd of(const std::string& detector) const;

 private:
  [[nodiscard]] NoisePsd stream(const std::string& name) const;
  void read_sets(const hdf5::Reader& file, const std::string& group);

  std::string path_;
  double rate_hz_;
  std::map<std::string, DetectorNoise> analytic_;
  std::map<std::string, NoisePsd> given_;
  std::map<std::string, std::vector<std::pair<std::string, double>>> parts_;  ///< of detectors
};

}  // namespace skyloom
