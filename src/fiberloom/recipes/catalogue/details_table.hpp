// SPDX-License-Identifier: BSD-3-Clause
// The candidates that a file of details has (rrdetails-*.h5), ours or redrock's, as a table.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "fiberloom/spectrum/table.hpp"

namespace fiberloom {

/// Is the library for them built in?
[[nodiscard]] bool can_read_details() noexcept;

/// A row for each candidate of these targets, best first; targets that are not in the file have
/// none. Throws kNotFound, kCorrupt, kWrongShape.
[[nodiscard]] Table details_table(const std::string& path, std::span<const std::int64_t> ids);

}  // namespace fiberloom
