// SPDX-License-Identifier: BSD-3-Clause
// The options of a coadd, a row each: what the command line, nights, their receipts and job files
// know of them. A new option is a row here and one use of its member.
#pragma once

#include <span>

#include "fiberloom/recipes/coadd/coadd_spectra.hpp"
#include "loom/options/option_row.hpp"

namespace fiberloom {

using CoaddOptionRow = loom::OptionRow<CoaddJob>;

/// All of them, in the order of help.
[[nodiscard]] std::span<const CoaddOptionRow> coadd_option_rows();

}  // namespace fiberloom
