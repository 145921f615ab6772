// SPDX-License-Identifier: BSD-3-Clause
// What the page of a volume shows of its scan: the sinogram of a slice, prepared as for the volume,
// and the slice with the axis elsewhere.
#pragma once

#include <cstddef>

#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "loom/json/json.hpp"
#include "tomoloom/recipes/view_volume.hpp"

namespace tomoloom {

/// Of slice `slice` of the job's volume, by the options that are noted in it. Throws kScanMismatch
/// where the volume has no such notes, or the scan is of another size.
[[nodiscard]] Json scan_json(const ViewJob& job, std::size_t slice, Executor& executor,
                             const Observer& observer);

}  // namespace tomoloom
