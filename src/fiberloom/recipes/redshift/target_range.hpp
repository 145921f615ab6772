// SPDX-License-Identifier: BSD-3-Clause
// Which targets of a file a job asks for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "fiberloom/recipes/redshift/redshift_job.hpp"
#include "loom/base/log.hpp"

namespace fiberloom {

/// As they first appear.
[[nodiscard]] std::vector<std::int64_t> unique_of(const std::vector<std::int64_t>& ids);

/// Those of a file (`ids`, each once) that a range of targets asks for. Throws kFiberRange.
[[nodiscard]] std::vector<std::int64_t> in_range(std::vector<std::int64_t> ids,
                                                 const RedshiftJob& job, const std::string& path);

/// Targets asked for that are nowhere, the first of them by name.
void warn_of_missing(std::span<const std::int64_t> wanted,
                     const std::unordered_map<std::int64_t, std::size_t>& found,
                     const Observer& observer);

}  // namespace fiberloom
