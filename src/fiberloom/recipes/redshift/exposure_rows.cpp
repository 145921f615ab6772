// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift/exposure_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {

std::vector<std::vector<std::size_t>> rows_of_targets(const Table& fibermap) {
  const std::vector<std::int64_t> ids = fibermap.integers("TARGETID", -1).value();
  std::unordered_map<std::int64_t, std::size_t> known;
  std::vector<std::vector<std::size_t>> out;
  for (std::size_t row = 0; row < ids.size(); ++row) {
    const auto [at, is_new] = known.emplace(ids[row], out.size());
    if (is_new) out.emplace_back();
    out[at->second].push_back(row);
  }
  return out;
}

void check_exposure_rows(const Table& fibermap, std::span<const std::vector<std::size_t>> targets,
                         const Observer& observer) {
  const auto exposures = fibermap.integers("EXPID", -1), ids = fibermap.integers("TARGETID", -1);
  auto fibers = fibermap.integers("FIBER", -1);
  if (!exposures || !ids) return;
  const bool nameless = !fibers;
  if (nameless) fibers.emplace(fibermap.rows, -1);
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
  const auto number = static_cast<long long>((*ids)[example]);
  observer.warn(
      nameless
          ? print("%zu of %zu TARGETIDs are there twice in one exposure, as %lld, and no FIBER "
                  "tells whether that is the same light",
                  shared, targets.size(), number)
          : print("FIBERMAP: %zu of %zu TARGETIDs are of several fibres of one exposure, as %lld: "
                  "taken for one target each",
                  shared, targets.size(), number));
}

}  // namespace fiberloom
