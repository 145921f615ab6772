// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/cli/rank_fault.hpp"

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "fiberloom/cli/command.hpp"
#include "loom/base/error.hpp"
#include "loom/program/console.hpp"

namespace fiberloom::cli {

void abort_ranks(Ranks& ranks, const std::exception_ptr& thrown) {
  int code = static_cast<int>(Status::kInternal);
  const std::string who = "rank " + std::to_string(ranks.rank()) + ": ";
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    code = error.exit_code();
    print_error(kProgram, ranks.rank() == 0 ? error.what() : who + error.what());
  } catch (const std::exception& error) {
    print_error(kProgram, who + "internal: " + error.what());
  }
  // Launchers drop what they have not read when the job is aborted.
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  ranks.abort(code);
  std::_Exit(code);
}

}  // namespace fiberloom::cli
