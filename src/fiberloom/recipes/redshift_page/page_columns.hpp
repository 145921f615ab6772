// SPDX-License-Identifier: BSD-3-Clause
// Tables of redshifts as columns of the page: whatever single numbers, truths and texts they have.
#pragma once

#include <span>

#include "fiberloom/formats/redshift_file.hpp"
#include "fiberloom/foundation.hpp"
#include "loom/json/json.hpp"

namespace fiberloom::redshift_page {

/// A number with so many digits.
[[nodiscard]] double digits(double value, int n);

/// Columns of all files one below the other: REDSHIFTS, then what a table wants of FIBERMAP. Texts
/// as {words, codes}; TARGETID and other integers that a double does not hold as texts; null where
/// a file has no such column, or no such number.
[[nodiscard]] Json columns_json(std::span<const RedshiftFile> files);

/// [[name, value], ...] of all single values of a target in FIBERMAP and TSNR2.
[[nodiscard]] Json facts_json(const RedshiftFile& file, std::size_t row);

}  // namespace fiberloom::redshift_page
