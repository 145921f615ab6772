// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift/exposure_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {

void check_exposure_rows(const Table& fibermap, std::span<const std::vector<std::size_t>> targets,
                         const Observer& observer) {
  const auto exposures = fibermap.integers("EXPID", -1), fibers = fibermap.integers("FIBER", -1);
  const auto ids = fibermap.integers("TARGETID", -1);
  if (!exposures || !fibers || !ids) return;
  std::size_t shared = 0, example = 0;
  for (std::size_t t = 0; t < targets.size(); ++t) {
    std::vector<std::pair<std::int64_t, std::int64_t>> seen;  // exposure, fibre
    for (const std::size_t row : targets[t]) seen.emplace_back((*exposures)[row], (*fibers)[row]);
    std::sort(seen.begin(), seen.end());
    const auto twice = std::adjacent_find(seen.begin(), seen.end());
    if (twice != seen.end() && twice->first >= 0 && twice->second >= 0) {
      throw Error(Status::kUsage, print("FIBERMAP: fibre %lld of exposure %lld is there twice, "
                                        "expected each file once",
                                        static_cast<long long>(twice->second),
                                        static_cast<long long>(twice->first)));
    }
    const auto same = std::adjacent_find(
        seen.begin(), seen.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
    if (same == seen.end() || same->first < 0) continue;
    if (shared++ == 0) example = targets[t].front();
  }
  if (shared == 0) return;
  observer.warn(
      print("FIBERMAP: %zu of %zu TARGETIDs are of several fibres of one exposure, as %lld: "
            "taken for one target each",
            shared, targets.size(), static_cast<long long>((*ids)[example])));
}

}  // namespace fiberloom
