// SPDX-License-Identifier: BSD-3-Clause
// The recipe of `fiberloom coadd`: spectra of many exposures, file by file, become one spectrum a
// target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fiberloom/formats/formats.hpp"
#include "fiberloom/recipes/coadd/sky_pixels.hpp"
#include "fiberloom/spectrum/wave_grid.hpp"
#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "loom/files/output_files.hpp"

namespace fiberloom {

struct CoaddJob {
  /// Files of spectra, or calibrated frames: those of one exposure and spectrograph (EXPID,
  /// SPECGRPH) are its cameras; where an exposure lacks a camera it adds nothing there.
  std::vector<std::string> inputs;
  std::string output;
  double cosmic_nsig = 4;       ///< 0: none are looked for
  bool across_cameras = false;  ///< one spectrum of all cameras
  SteppedGrid grid;             ///< wanted: one spectrum of all cameras on this grid
  SkyPixels pixels;             ///< of targets there alone
  /// All of a tile's exposures up to this night: what the group says of itself.
  std::optional<std::int64_t> through_night{};
  Verify verify = Verify::kYes;
  Overwrite overwrite = Overwrite::kYes;
};

/// Throws kUsage for options that make no sense, or not together.
void check_options(const CoaddJob& job);

/// The same, and throws kUsage, kOutputExists, kUnwritable before anything is read: what cannot be
/// done whatever the inputs hold. `more`: texts beside.
void check_job(const CoaddJob& job, std::span<const NamedFile> more);

struct CoaddSummary {
  std::size_t spectra = 0, targets = 0, without = 0;  ///< without: targets of no good exposure
  std::size_t cosmics = 0;                            ///< pixels left out for them, of all cameras
  std::vector<std::string> cameras;                   ///< of the output
};

/// Throws kUsage without inputs, for a grid beside the data and pixels without a target,
/// kWrongShape where files differ in cameras or wavelengths, kMissingKeyword without TARGETID, and
/// what readers and writers throw.
CoaddSummary coadd_spectra(const CoaddJob& job, Executor& executor, const Observer& observer);

}  // namespace fiberloom
