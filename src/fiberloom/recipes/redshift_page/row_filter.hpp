// SPDX-License-Identifier: BSD-3-Clause
// Which rows of tables a person means: "ZWARN != 0 and SPECTYPE == QSO". The page reads the same
// language (redshift_filter.js).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fiberloom/spectrum/table.hpp"

namespace fiberloom::redshift_page {

/// Rows for which all conditions hold. A condition is NAME OP VALUE, OP one of == != < <= > >= and
/// & (the number has one of these bits); conditions are joined by "and", "&&" or commas; a name is
/// a column of one of the tables, the first that has it, case ignored; texts are compared as texts,
/// case ignored. All tables have equally many rows. A number that is unknown fulfils != alone.
/// Throws kUsage with `option`, what was found and what was expected.
[[nodiscard]] std::vector<std::size_t> matching_rows(const std::string& conditions,
                                                     std::span<const Table* const> tables,
                                                     const std::string& option);

}  // namespace fiberloom::redshift_page
