// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/map_counts.hpp"

#include <algorithm>
#include <string>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "skyloom/status.hpp"

namespace skyloom {

std::size_t samples_of_detectors(const TodSource& source) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < source.observations(); ++i) {
    sum += source.observation(i).samples * source.observation(i).plane.detectors.size();
  }
  return sum;
}

std::size_t most_detectors(const TodSource& source) {
  std::size_t most = 0;
  for (std::size_t i = 0; i < source.observations(); ++i) {
    most = std::max(most, source.observation(i).plane.detectors.size());
  }
  return most;
}

void count_streams(const std::vector<Stream>& streams, MapSummary& summary) {
  for (const Stream& stream : streams) {
    for (const std::uint32_t n : stream.lengths) summary.samples += n;
    summary.good += stream.good;
    summary.flagged += stream.flagged;
    summary.not_finite += stream.not_finite;
    summary.runs += stream.runs.size();
  }
}

void count_all(RankCompany* company, MapSummary& s) {
  if (company == nullptr) return;
  std::size_t* const counts[] = {&s.samples,    &s.good,       &s.flagged,     &s.not_finite,
                                 &s.runs,       &s.baselines,  &s.unfitted,    &s.left_baselines,
                                 &s.hit_pixels, &s.cut_pixels, &s.cut_samples, &s.glitches};
  std::vector<double> sums;
  for (const std::size_t* count : counts) sums.push_back(static_cast<double>(*count));
  company->sum(sums);
  for (std::size_t i = 0; i < sums.size(); ++i) *counts[i] = static_cast<std::size_t>(sums[i]);
}

void check_good(const MapJob& job, RankCompany* company, const MapSummary& s) {
  double counts[] = {static_cast<double>(s.good),     static_cast<double>(s.samples),
                     static_cast<double>(s.flagged),  static_cast<double>(s.not_finite),
                     static_cast<double>(s.unfitted), static_cast<double>(s.glitches)};
  if (company != nullptr) company->sum(counts);
  if (counts[0] > 0) return;
  if (counts[1] == 0) {
    throw Error(kNoGoodData, "no detector is left: all are flagged, or weigh nothing (NET 0)");
  }
  std::string flagged = job.wcs ? " or outside of --wcs" : "";
  if (counts[4] > 0) {
    flagged += print(" (%.0f stretches of detectors since no filter could be fitted)", counts[4]);
  }
  if (counts[5] > 0) flagged += print(" (%.0f by --deglitch)", counts[5]);
  throw Error(kNoGoodData,
              print("none of %.0f samples is good: %.0f are flagged%s, %.0f not finite", counts[1],
                    counts[2], flagged.c_str(), counts[3]));
}

void count_system(const AllSums& sums, const OffsetSystem& system, MapSummary& summary) {
  summary.baselines = system.size();
  summary.left_baselines = system.left_baselines();
  summary.cut_pixels = system.cut_pixels();
  summary.cut_samples = system.cut_samples();
  summary.sums_bytes = sums.whole.bytes();
  for (const SkySums& part : sums.parts) summary.sums_bytes += part.bytes();
  summary.system_bytes = system.bytes();
  for (const std::int32_t tile : system.hit_tiles()) {
    if (system.company() != nullptr && !system.company()->owns(tile)) continue;
    summary.hit_pixels += sums.whole.tile(static_cast<std::size_t>(tile)).size();
  }
}

}  // namespace skyloom
