// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/cli/rank_fault.hpp"

#include "fiberloom/cli/command.hpp"
#include "loom/program/rank_run.hpp"

namespace fiberloom::cli {

void abort_ranks(Ranks& ranks, const std::exception_ptr& thrown) {
  loom::abort_ranks(kProgram, ranks, thrown);
}

}  // namespace fiberloom::cli
