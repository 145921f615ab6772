// SPDX-License-Identifier: BSD-3-Clause
// What TOAST's HDF5 observations, format 2, say of themselves: names of groups and attributes, the
// focal plane, noise. For stored_tod.cpp and observation_writer.cpp.
#pragma once

#include <string>
#include <vector>

#include "skyloom/tod/observation.hpp"

namespace loom::hdf5 {
class Reader;
}

namespace skyloom {

inline constexpr int kObservationFormat = 2;
inline constexpr const char* kFocalPlaneTable = "instrument/focalplane";
inline constexpr const char* kPlateAngles = "shared/hwp_angle";
/// What a simulation did beside sky and noise: of each sample, float32.
inline constexpr const char *kTrueGain = "detdata/true_gain",
                            *kTrueGlitches = "detdata/true_glitches";  ///< K
inline constexpr const char* kStretches = "scanning";   ///< in intervals/: the peer's name
inline constexpr const char* kNoiseTable = "analytic";  ///< name, rate, fmin, fknee, slope, NET

/// The attribute of a group or data set. Throws kMissingKeyword.
[[nodiscard]] std::string text_of(const hdf5::Reader& file, const std::string& name,
                                  const std::string& attribute);
[[nodiscard]] double number_of(const hdf5::Reader& file, const std::string& name,
                               const std::string& attribute);

/// Places, leakages and uids of these detectors from a table as instrument/focalplane. Throws
/// kMissingHdu, kMissingKeyword (no such column, or a detector without a row).
[[nodiscard]] std::vector<Detector> read_detectors(const hdf5::Reader& file,
                                                   const std::vector<std::string>& names,
                                                   const std::string& table = kFocalPlaneTable);

/// Adds noise from metadata/MODEL/analytic, or as white noise from its detector_weights. Returns
/// the sampling rate: the model's where it has one, else `rate_hz`, that of the timestamps, whose
/// digits are few. Throws kNoiseModel where there is neither table, a detector is not in it, or the
/// rates are not those of one stream.
double read_noise(const hdf5::Reader& file, const std::string& model, double rate_hz,
                  std::vector<Detector>& detectors);

}  // namespace skyloom
