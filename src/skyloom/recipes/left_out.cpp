// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/left_out.hpp"

#include <cstddef>
#include <string>

#include "loom/base/print.hpp"

namespace skyloom {
namespace {

constexpr std::size_t kMostGlitches = 10;  // one of so many samples

}  // namespace

void tell_of_left_out(const MapSummary& summary, const Observer& observer) {
  if (summary.unfitted > 0) {
    observer.warn(print(
        "%zu stretches of detectors are left out: their good samples do not determine a filter",
        summary.unfitted));
  }
  if (summary.glitches > summary.read_samples / kMostGlitches) {
    observer.warn(
        print("%zu of %zu samples are flagged as glitches: so many are noise, which a "
              "larger --deglitch or --deglitch-window leaves",
              summary.glitches, summary.read_samples));
  }
}

void tell_of_empty_parts(const MapSummary& summary, const Observer& observer) {
  for (std::size_t i = 0; i < summary.parts.size(); ++i) {
    const PartSummary& part = summary.parts[i];
    if (part.cut_pixels < part.hit_pixels) continue;
    observer.warn(print("part %zu of --split has no value in any pixel: ", i + 1) +
                  (part.hit_pixels == 0 ? std::string("none of its samples is good")
                                        : print("all %zu that were hit are seen at too few angles",
                                                part.hit_pixels)));
  }
}

}  // namespace skyloom
