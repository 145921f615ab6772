// SPDX-License-Identifier: BSD-3-Clause
// Whether the rows that become one target are its exposures, each once.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/table.hpp"
#include "loom/base/log.hpp"

namespace fiberloom {

/// Rows of each target (TARGETID, which must be there), targets as they first appear.
[[nodiscard]] std::vector<std::vector<std::size_t>> rows_of_targets(const Table& fibermap);

/// Throws kUsage where a fibre of an exposure is there twice: its light would count twice. Tells of
/// targets that several fibres of one exposure name, as numbers that stand for no target do: they
/// are taken for one, by the field's rules; without FIBER, of targets that an exposure has twice.
/// Without EXPID nothing can be said.
void check_exposure_rows(const Table& fibermap, std::span<const std::vector<std::size_t>> targets,
                         const Observer& observer);

}  // namespace fiberloom
