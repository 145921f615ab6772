// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift/target_range.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {

std::vector<std::int64_t> unique_of(const std::vector<std::int64_t>& ids) {
  std::unordered_set<std::int64_t> seen;
  std::vector<std::int64_t> out;
  for (const std::int64_t id : ids) {
    if (seen.insert(id).second) out.push_back(id);
  }
  return out;
}

std::vector<std::int64_t> in_range(std::vector<std::int64_t> ids, const RedshiftJob& job,
                                   const std::string& path) {
  if (!job.first_target && !job.ntargets) return ids;
  const std::size_t first = job.first_target.value_or(0);
  const std::size_t count = job.ntargets.value_or(ids.size() - std::min(first, ids.size()));
  if (first > ids.size() || count > ids.size() - first) {
    const std::string number = job.ntargets ? print("%zu ", count) : "";
    throw Error(kFiberRange,
                path + ": " + number +
                    print("targets from %zu on asked for, the file has %zu", first, ids.size()));
  }
  const auto from = ids.begin() + static_cast<std::ptrdiff_t>(first);
  return {from, from + static_cast<std::ptrdiff_t>(count)};
}

void warn_of_missing(std::span<const std::int64_t> wanted,
                     const std::unordered_map<std::int64_t, std::size_t>& found,
                     const Observer& observer) {
  std::vector<std::int64_t> missing;
  std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(missing),
               [&](std::int64_t id) { return !found.contains(id); });
  if (missing.empty() || found.empty()) return;
  constexpr std::size_t kNamed = 3;
  std::string names;
  for (std::size_t i = 0; i < std::min(missing.size(), kNamed); ++i) {
    names += (i > 0 ? ", " : "") + std::to_string(missing[i]);
  }
  if (missing.size() > kNamed) names += ", ...";
  observer.warn(print("%zu of %zu targets asked for are in none of the files: ", missing.size(),
                      wanted.size()) +
                names);
}

}  // namespace fiberloom
