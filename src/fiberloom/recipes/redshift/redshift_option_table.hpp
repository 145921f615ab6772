// SPDX-License-Identifier: BSD-3-Clause
// The options of a search for redshifts, a row each: what the command line, receipts and Python
// know of them. A new option is a row here and one use of its member.
#pragma once

#include <span>
#include <string>

#include "fiberloom/recipes/redshift/redshift_job.hpp"
#include "loom/options/option_row.hpp"

namespace fiberloom {

using RedshiftOptionRow = loom::OptionRow<RedshiftJob>;

/// All of them, in the order of help.
[[nodiscard]] std::span<const RedshiftOptionRow> redshift_option_rows();

/// The word for a method.
[[nodiscard]] std::string redshift_method_name(RedshiftMethod method);

/// All that the bytes of the outputs depend on beside input files and templates: for receipts.
[[nodiscard]] std::string redshift_options_text(const RedshiftJob& job);

/// Throws kUsage, with the option's name, where options contradict each other or make no sense.
void validate(const RedshiftJob& job);

}  // namespace fiberloom
