// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/map_data.hpp"

namespace skyloom {

MapData::MapData(const TodSource& source, const MapJob& job, const Observer& observer)
    : last_(&source) {
  if (!job.demodulation.on) {
    filter(before_, job.filters);
    return;
  }
  // what is sharp, and what turns with the plate, is looked for while it is so
  FilterOptions behind = job.filters;  // fitted together where that is asked for
  behind.deglitch = {};
  behind.plate = {};
  filter(before_, {.deglitch = job.filters.deglitch, .plate = job.filters.plate});
  demodulated_.emplace(*last_, job.demodulation, observer);
  last_ = &*demodulated_;
  filter(behind_, behind);
}

void MapData::filter(std::optional<FilteredTod>& by, const FilterOptions& options) {
  if (!options.any()) return;
  by.emplace(*last_, options);
  last_ = &*by;
}

std::size_t MapData::unfitted() const noexcept {
  return (before_ ? before_->failed() : 0) + (behind_ ? behind_->failed() : 0);
}

std::size_t MapData::glitches() const noexcept { return before_ ? before_->glitches() : 0; }

}  // namespace skyloom
