// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/cli/command.hpp"

namespace fiberloom::cli {

void add_verify_option(Options& options, Verify& verify) {
  options.flag(
      "--no-verify", [&verify] { verify = Verify::kNo; },
      "do not compare the checksums of inputs (CHECKSUM, DATASUM), where they have them");
}

}  // namespace fiberloom::cli
