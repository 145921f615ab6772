// SPDX-License-Identifier: BSD-3-Clause
// What TOAST's HDF5 observations, format 2, say of themselves: names of groups and attributes, the
// focal plane. For stored_tod.cpp and observation_writer.cpp.
#pragma once

#include <map>
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
inline constexpr const char* kFrame = "COORDSYS";  ///< of the boresight; ours, the peer has none
/// What a simulation did beside sky and noise: of each sample, float32.
inline constexpr const char *kTrueGain = "detdata/true_gain",
                            *kTrueGlitches = "detdata/true_glitches";  ///< K
inline constexpr const char* kStretches = "scanning";   ///< in intervals/: the peer's name
inline constexpr const char* kNoiseTable = "analytic";  ///< name, rate, fmin, fknee, slope, NET
inline constexpr const char *kWeightTable = "detector_weights",  ///< detector, 1/K^2
    *kMixingTable = "mixing_matrix";                             ///< detector, stream, coupling
/// Classes of noise models: a stream for each detector, or a mixture of streams.
inline constexpr const char *kAnalyticNoise = "toast.noise_sim.AnalyticNoise",
                            *kMixedNoise = "toast.noise.Noise";

/// Throws kMissingKeyword where a file is no observation, kUnsupported of another format.
void check_observation(const hdf5::Reader& file);

/// Throws kUnsupported where the peer has packed the numbers of a data set into a group.
void refuse_compressed(const hdf5::Reader& file, const std::string& name);

/// The attribute of a group or data set. Throws kMissingKeyword.
[[nodiscard]] std::string text_of(const hdf5::Reader& file, const std::string& name,
                                  const std::string& attribute);
[[nodiscard]] double number_of(const hdf5::Reader& file, const std::string& name,
                               const std::string& attribute);

/// Rows of a table by the texts of a column.
[[nodiscard]] std::map<std::string, std::size_t> rows_by_name(
    const std::vector<std::string>& names);

/// Places, leakages and uids of these detectors from a table as instrument/focalplane. Throws
/// kMissingHdu, kMissingKeyword (no such column, or a detector without a row).
[[nodiscard]] std::vector<Detector> read_detectors(const hdf5::Reader& file,
                                                   const std::vector<std::string>& names,
                                                   const std::string& table = kFocalPlaneTable);

/// Which of FocalPlane::groups the table of a focal plane does not have anyway.
[[nodiscard]] std::vector<std::size_t> own_groups(const FocalPlane& plane);

}  // namespace skyloom
