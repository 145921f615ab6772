// SPDX-License-Identifier: BSD-3-Clause
// How deep an exposure went, by the TSNR2 in its frames' SCORES: medians of a spectrograph, and the
// effective times that the survey counts. Internal to recipes/.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "fiberloom/formats/formats.hpp"
#include "fiberloom/recipes/calibrate_frame.hpp"

namespace fiberloom {

/// Of one spectrograph.
struct PetalDepth {
  std::map<std::string, double> tsnr2;  ///< TSNR2_KIND_BAND: median of fibres that have any
  std::vector<double> seconds;          ///< effective, by fibre; empty: not known
};

/// Which kind of target an exposure's effective time is of, by GOALTYPE of the frame or its
/// FIBERMAP: "bgs" of bright and backup, else "elg", as desispec.
[[nodiscard]] std::string kind_of_goal(const FrameFile& frame);

/// Seconds that a TSNR2 of 1 of this kind is, by job.desimodel or $DESIMODEL; nullopt where no
/// frame has any TSNR2, or where nobody knows.
[[nodiscard]] std::optional<double> seconds_of_tsnr2(const std::string& kind,
                                                     std::span<const FrameFile* const> frames,
                                                     const CalibrationJob& job,
                                                     const Observer& observer);

/// Cameras of one spectrograph; effective seconds where `seconds` is known: sums over its cameras.
[[nodiscard]] PetalDepth depth_of_petal(std::span<const FrameFile* const> cameras,
                                        const std::string& kind, std::optional<double> seconds);

}  // namespace fiberloom
