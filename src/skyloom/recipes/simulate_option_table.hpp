// SPDX-License-Identifier: BSD-3-Clause
// The options of `skyloom simulate`.
#pragma once

#include <span>
#include <string>

#include "loom/options/option_row.hpp"
#include "skyloom/tod/focal_plane_file.hpp"
#include "skyloom/tod/simulated_tod.hpp"

namespace skyloom {

struct SimulateJob {
  SimulationOptions simulation;
  std::string schedule;     ///< what is scanned from the ground, a file; empty: a satellite
  std::string focal_plane;  ///< HDF5; empty: a hexagon
  std::string sky;          ///< FITS map; empty: noise alone
  std::string ground_map;   ///< of the horizon; empty: none
  bool no_noise = false;
};

/// Headings of help.
inline constexpr const char* kPlaneOptions = "Focal plane";
inline constexpr const char* kScanOptions = "Scan";
inline constexpr const char* kGroundOptions = "Scan from the ground";
inline constexpr const char* kSkyOptions = "Sky and noise";
inline constexpr const char* kFaultOptions = "Gains and glitches";

/// All of them but the names of files and what belongs to running, in the order of help.
[[nodiscard]] std::span<const OptionRow<SimulateJob>> simulate_option_rows();

}  // namespace skyloom
