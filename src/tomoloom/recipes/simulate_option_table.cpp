// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/simulate_option_table.hpp"

#include <algorithm>

#include "tomoloom/simulate/phantom.hpp"

namespace tomoloom {
namespace {

using SimulateRow = OptionRow<SimulateJob>;
using Field = OptionField;

constexpr Interval kPixels = between(2, 32768), kFrames = between(1, 10000);

Field phantom_field(SimulateJob& job) {
  const std::vector<std::string>& names = phantom_names();
  return WordField{names, [&job, &names](std::size_t i) { job.phantom = names[i]; },
                   [&job, &names] {
                     const auto found = std::find(names.begin(), names.end(), job.phantom);
                     return static_cast<std::size_t>(found - names.begin()) % names.size();
                   }};
}

const SimulateRow kSimulateRows[] = {
    {.key = "phantom",
     .names = "--phantom",
     .group = kBodyOptions,
     .text = "the body",
     .field = phantom_field},
    {.key = "columns",
     .names = "--columns",
     .group = kBodyOptions,
     .text = "pixels of a row",
     .field = [](SimulateJob& j) -> Field { return &j.columns; },
     .value = "N",
     .interval = kPixels,
     .shows_default = true},
    {.key = "rows",
     .names = "--rows",
     .group = kBodyOptions,
     .text = "rows of the detector",
     .field = [](SimulateJob& j) -> Field { return &j.rows; },
     .value = "N",
     .interval = between(1, 32768),
     .shows_default = true},
    {.key = "angles",
     .names = "--angles",
     .group = kBodyOptions,
     .text = "projections",
     .field = [](SimulateJob& j) -> Field { return &j.angles; },
     .value = "N",
     .interval = between(1, 1000000),
     .shows_default = true},
    {.key = "arc",
     .names = "--arc",
     .group = kBodyOptions,
     .text = "degrees; the last projection is a step before its end",
     .field = [](SimulateJob& j) -> Field { return &j.arc_deg; },
     .interval = between(0.001, 36000),
     .shows_default = true},
    {.key = "center",
     .names = "--center",
     .group = kBodyOptions,
     .text = "column that the axis is projected to; default: the middle of the row",
     .field = [](SimulateJob& j) -> Field { return &j.centre; }},
    {.key = "tilt",
     .names = "--tilt",
     .group = kBodyOptions,
     .text = "degrees that the axis is tilted along the beam, about the middle row",
     .field = [](SimulateJob& j) -> Field { return &j.tilt_deg; },
     .interval = between(-45, 45),
     .shows_default = true},
    {.key = "absorption",
     .names = "--absorption",
     .group = kBodyOptions,
     .text = "of a body of value 1 as wide as the detector, as a line integral",
     .field = [](SimulateJob& j) -> Field { return &j.absorption; },
     .interval = between(1e-9, 1e6),
     .shows_default = true},
    {.key = "flats",
     .names = "--flats",
     .group = kBodyOptions,
     .text = "frames of the beam alone",
     .field = [](SimulateJob& j) -> Field { return &j.flats; },
     .value = "N",
     .interval = kFrames,
     .shows_default = true},
    {.key = "darks",
     .names = "--darks",
     .group = kBodyOptions,
     .text = "frames without beam",
     .field = [](SimulateJob& j) -> Field { return &j.darks; },
     .value = "N",
     .interval = kFrames,
     .shows_default = true},
    {.key = "photons",
     .names = "--photons",
     .group = kDetectorOptions,
     .text = "in a pixel of a flat; 0: no noise",
     .field = [](SimulateJob& j) -> Field { return &j.detector.photons; },
     .interval = at_least(0),
     .shows_default = true},
    {.key = "rings",
     .names = "--rings",
     .group = kDetectorOptions,
     .text = "spread of what flats do not tell of a pixel's response",
     .field = [](SimulateJob& j) -> Field { return &j.detector.rings; },
     .interval = between(0, 0.5),
     .shows_default = true},
    {.key = "drift",
     .names = "--drift",
     .group = kDetectorOptions,
     .text = "fraction by which the beam fades during the scan",
     .field = [](SimulateJob& j) -> Field { return &j.detector.drift; },
     .interval = between(0, 0.99),
     .shows_default = true},
    {.key = "zingers",
     .names = "--zingers",
     .group = kDetectorOptions,
     .text = "fraction of pixels of projections that are hit",
     .field = [](SimulateJob& j) -> Field { return &j.detector.zingers; },
     .interval = between(0, 1),
     .shows_default = true},
    {.key = "seed",
     .names = "--seed",
     .group = kDetectorOptions,
     .text = "same seed, same bytes",
     .field = [](SimulateJob& j) -> Field { return &j.detector.seed; },
     .shows_default = true},
};

}  // namespace

std::span<const SimulateRow> simulate_option_rows() { return kSimulateRows; }

}  // namespace tomoloom
