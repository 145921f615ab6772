// SPDX-License-Identifier: BSD-3-Clause
// A fault that a rank of an MPI job cannot go on from.
#pragma once

#include <exception>

#include "fiberloom/foundation.hpp"
#include "loom/runtime/ranks.hpp"

namespace fiberloom::cli {

/// Prints, then ends all ranks: they would wait for this one.
[[noreturn]] void abort_ranks(Ranks& ranks, const std::exception_ptr& thrown);

}  // namespace fiberloom::cli
