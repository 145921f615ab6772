// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/night/part_collector.hpp"

namespace fiberloom::night {

std::optional<std::vector<PartialFrame>> PartCollector::add(PartialFrame part) {
  const int bundles = part.unit.bundles;
  const std::lock_guard lock(mutex_);
  const std::size_t index = part.unit.frame;
  if (closed_.contains({index, part.round})) return std::nullopt;
  Frame& frame = frames_[index];
  if (part.round < frame.round) return std::nullopt;
  if (part.round > frame.round) frame = {part.round, {}};
  const bool ends = ends_frame(part.outcome.state);
  frame.parts.push_back(std::move(part));
  int covered = 0;
  for (const PartialFrame& p : frame.parts) covered += p.unit.last_bundle - p.unit.first_bundle;
  if (!ends && covered < bundles) return std::nullopt;
  std::vector<PartialFrame> all = std::move(frame.parts);
  closed_.insert({index, frame.round});
  frames_.erase(index);
  return all;
}

std::vector<std::size_t> PartCollector::open() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::size_t> list;
  for (const auto& [index, frame] : frames_) list.push_back(index);
  return list;
}

}  // namespace fiberloom::night
