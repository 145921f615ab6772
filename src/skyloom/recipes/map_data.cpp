// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/map_data.hpp"

#include <memory>
#include <string>

#include "skyloom/sky/sky_map.hpp"
#include "skyloom/sky/template_map.hpp"

namespace skyloom {
namespace {

std::shared_ptr<const TemplateMap> templates_of(const MapJob& job, const Observer& observer) {
  auto out = std::make_shared<TemplateMap>(read_template_map(job.deproject, job.deproject_columns));
  if (out->unseen > 0) {
    observer.warn(job.deproject + ": " + std::to_string(out->unseen) +
                  " pixels without a value are 0");
  }
  if (const auto said = other_frame(job.deproject, out->frame, job.coordinates)) {
    observer.warn(*said);
  }
  return out;
}

}  // namespace

MapData::MapData(const TodSource& source, const MapJob& job, const Observer& observer)
    : last_(&source) {
  if (!job.demodulation.on) {
    FilterOptions filters = job.filters;
    if (!job.deproject.empty()) filters.deproject = templates_of(job, observer);
    filter(before_, filters);
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
