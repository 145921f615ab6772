// SPDX-License-Identifier: BSD-3-Clause
// A program's command as one rank of an MPI job: the option that says so, and faults that no rank
// can go on from.
#pragma once

#include <exception>
#include <string>

#include "loom/program/options.hpp"
#include "loom/runtime/launch.hpp"
#include "loom/runtime/ranks.hpp"

namespace loom {

/// --mpi: `text` starts as "auto".
void add_mpi_option(Options& options, std::string& text);
/// "auto", "on", "off", "openmpi" or "mpich".
[[nodiscard]] MpiChoice mpi_choice_of(const std::string& text);

/// Prints, then ends all ranks: they would wait for this one.
[[noreturn]] void abort_ranks(const char* program, Ranks& ranks, const std::exception_ptr& thrown);

}  // namespace loom
