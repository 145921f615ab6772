// SPDX-License-Identifier: BSD-3-Clause
// Fibre flats of a night as one a camera: exposures of a lamp, then lamps over the focal plane.
#pragma once

#include <string>
#include <vector>

#include "fiberloom/recipes/calibrate_frame.hpp"

namespace fiberloom {

/// The number of a lamp in a header's PROGRAM: "CALIB DESI-CALIB-02 LEDs only" -> 2; 0: none.
[[nodiscard]] long lamp_of(const std::string& program);

struct AverageFlatsSummary {
  std::size_t flats = 0, lamps = 0;   ///< that the averages are made of
  std::vector<std::string> cameras;   ///< whose averages were made
  std::vector<std::string> together;  ///< those that were laid over the focal plane with them
  std::vector<std::string> outputs;
};

/// job.flats -> job.output, "{camera}" in it replaced. CAMERA and PROGRAM of their headers say
/// whose they are and of which lamp; a camera's `calibrate::average_flats` of each lamp go through
/// `combine_lamps`, all spectrographs of a band together. Without places of fibres lamps are
/// averaged as exposures are, with a warning. Throws kUsage where several cameras would have one
/// output, kWrongShape where one lacks a lamp that another of its band has.
AverageFlatsSummary average_fiber_flats(const CalibrationJob& job, const Observer& observer);

/// The same of the one camera that `job.flats` are of. `beside`: flats of other cameras of its
/// band; those that have all of its lamps lie beside it in the focal plane.
AverageFlatsSummary average_flats_of_camera(const CalibrationJob& job,
                                            const std::vector<std::string>& beside,
                                            const Observer& observer);

}  // namespace fiberloom
