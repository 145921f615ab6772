// SPDX-License-Identifier: BSD-3-Clause
// The data that become a map: another source's, filtered and demodulated as the job asks.
#pragma once

#include <optional>

#include "skyloom/recipes/map_job.hpp"

namespace skyloom {

class MapData {
 public:
  /// `source` outlives it. Throws as DemodulatedTod does.
  MapData(const TodSource& source, const MapJob& job, const Observer& observer);
  MapData(const MapData&) = delete;
  MapData& operator=(const MapData&) = delete;

  [[nodiscard]] const TodSource& get() const noexcept { return *last_; }
  /// Stretches of detectors that a filter could not be fitted to.
  [[nodiscard]] std::size_t unfitted() const noexcept;
  [[nodiscard]] std::size_t glitches() const noexcept;

 private:
  /// What follows on a source, where any is asked for.
  void filter(std::optional<FilteredTod>& by, const FilterOptions& options);

  const TodSource* last_;
  std::optional<FilteredTod> before_, behind_;  ///< demodulation
  std::optional<DemodulatedTod> demodulated_;
};

}  // namespace skyloom
