// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/cli/command.hpp"

#include "fiberloom/recipes/extract_option_table.hpp"

namespace fiberloom::cli {

void add_verify_option(Options& options, Verify& verify) {
  const ExtractOptionRow& row = extract_option_row("verify");
  options.flag(
      row.names, [&verify] { verify = Verify::kNo; }, row.help());
}

}  // namespace fiberloom::cli
