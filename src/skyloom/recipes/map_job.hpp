// SPDX-License-Identifier: BSD-3-Clause
// What maps are asked for, and what is told of their making.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loom/device/backend.hpp"
#include "loom/files/atomic_file.hpp"
#include "loom/runtime/usage.hpp"
#include "skyloom/mapping/destripe.hpp"
#include "skyloom/pointing/sky_grid.hpp"
#include "skyloom/recipes/split.hpp"
#include "skyloom/sky/map_file.hpp"
#include "skyloom/tod/demodulated_tod.hpp"
#include "skyloom/tod/filtered_tod.hpp"

namespace skyloom {

/// How the map is made: offsets of baselines, or weights of samples by their noise.
enum class MapMethod { kDestripe, kGls };

/// What files the maps become.
enum class MapFormat { kFits, kHdf5 };

struct MapJob {
  std::string folder;  ///< where the maps go, as files
  std::size_t nside = 256;
  std::optional<WcsGrid> wcs = {};  ///< instead of HEALPix: a flat grid
  double step_s = 1;                ///< of a baseline; 0: an observation
  MapMethod method = MapMethod::kDestripe;
  double correlation_s = 30;  ///< of gls: over which samples know of each other
  bool binned_only = false;
  bool prior = false;  ///< the noise model tells of the offsets
  FilterOptions filters = {};
  DemodulationOptions demodulation = {};
  SplitOptions split = {};
  SolveOptions solve = {};
  SolveLimits limits = {};
  Preconditioner preconditioner = Preconditioner::kBanded;
  Backend backend = Backend::kCpu;  ///< what compresses, and takes the solver's steps
  Ordering ordering = Ordering::kNested;
  MapType type = MapType::kFloat32;
  MapFormat format = MapFormat::kFits;
  bool partial = false;           ///< files have only pixels that were hit
  std::string coordinates = "C";  ///< COORDSYS of the files: C, E or G
  Overwrite overwrite = Overwrite::kYes;
  std::string checkpoint = {};       ///< a file that the iterations are kept in; empty: nowhere
  double checkpoint_seconds = 300;   ///< between two times that they are
  std::string obs_matrix = {};       ///< the file of the observation matrix; empty: none
  bool obs_matrix_weighted = false;  ///< that of noise-weighted maps
  std::string deproject = {};        ///< a file for filters.deproject; empty: none
  std::size_t deproject_columns = 1;
  std::uint64_t memory = 0;  ///< bytes that may be taken; 0: no bound
  /// How many templates a detector has for itself, read or not yet.
  [[nodiscard]] std::size_t deproject_templates() const noexcept {
    return deproject.empty() ? filters.own_templates() : deproject_columns;
  }
};

/// How the names of its maps end.
[[nodiscard]] inline const char* ending_of(const MapJob& job) noexcept {
  return job.format == MapFormat::kHdf5 ? kHdf5Ending : kFitsEnding;
}

/// What the pixels of the maps are.
[[nodiscard]] inline SkyGrid grid_of(const MapJob& job) {
  return job.wcs ? SkyGrid(*job.wcs) : SkyGrid(Healpix(static_cast<std::int64_t>(job.nside)));
}

/// Of a part of the data.
struct PartSummary {
  std::size_t good = 0;  ///< samples
  std::size_t hit_pixels = 0, cut_pixels = 0;
};

/// Of a part's map by --method gls.
struct PartSolution {
  std::size_t iterations = 0;
  bool converged = false;
  std::size_t gaps = 0;
};

struct MapSummary {
  std::size_t observations = 0, detectors = 0;
  std::size_t samples = 0, good = 0, flagged = 0, not_finite = 0;
  std::size_t unfitted = 0;      ///< stretches of detectors that a filter could not be fitted to
  std::size_t read_samples = 0;  ///< of detectors: without demodulation those that are mapped
  std::size_t glitches = 0;      ///< samples that were flagged as such (--deglitch)
  std::size_t runs = 0, baselines = 0, left_baselines = 0;
  std::size_t hit_pixels = 0, cut_pixels = 0, cut_samples = 0;
  bool gls = false;      ///< --method gls made the map
  std::size_t gaps = 0;  ///< then: samples that are unknowns of their own
  std::vector<PartSummary> parts;
  std::vector<PartSolution> gls_parts;  ///< of --method gls
  std::vector<double> residuals;
  bool converged = false;
  std::size_t recalled = 0;         ///< iterations that a checkpoint had
  std::uint64_t planned_bytes = 0;  ///< where memory has a bound
  std::size_t system_bytes = 0, sums_bytes = 0;
  std::size_t solve_sent_bytes = 0;  ///< by all ranks to each other while it was solved
  StageTime compress, set_up, solve, write;
};

}  // namespace skyloom
