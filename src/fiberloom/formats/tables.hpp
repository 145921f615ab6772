// SPDX-License-Identifier: BSD-3-Clause
// FITS tables <-> tables beside spectra. There and back gives the same bytes.
#pragma once

#include <optional>

#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/table.hpp"
#include "loom/fits/raw_table.hpp"

namespace fiberloom {

/// Throws kCorrupt where the columns do not make up the rows.
[[nodiscard]] Table to_table(const RawTable& raw);
/// Cards of the columns as they came; of those that were added, TTYPEn, TFORMn and TUNITn.
[[nodiscard]] RawTable to_raw_table(const Table& table);

[[nodiscard]] std::optional<Table> to_table(const std::optional<RawTable>& raw);
[[nodiscard]] std::optional<RawTable> to_raw_table(const std::optional<Table>& table);

}  // namespace fiberloom
