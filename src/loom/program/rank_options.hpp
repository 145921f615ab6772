// SPDX-License-Identifier: BSD-3-Clause
// What programs that run as several ranks have on their command line, and how such a run ends that
// cannot go on.
#pragma once

#include <chrono>
#include <exception>
#include <string>

#include "loom/program/options.hpp"
#include "loom/runtime/launch.hpp"
#include "loom/runtime/ranks.hpp"

namespace loom {

struct RankOptions {
  std::string mpi = "auto";
  double silence_s = 20;
};

/// --mpi alone, for programs whose ranks are not watched.
void add_mpi_option(Options& options, std::string& text);

/// --rank-silence.
void add_rank_silence(Options& options, double& silence_s);

/// Declares --mpi and --rank-silence under a heading of their own.
void add_rank_options(Options& options, RankOptions& ranks);

/// --mpi as a choice.
[[nodiscard]] MpiChoice mpi_choice(const std::string& text);

/// How long other ranks keep a fault to themselves that all have: the first one tells it, waits
/// until the launcher has read it, and ends them.
inline constexpr std::chrono::milliseconds kFirstTells{600};

/// A fault that a rank cannot go on from: prints it, then ends all ranks, which would wait for this
/// one.
[[noreturn]] void abort_ranks(const std::string& program, Ranks& ranks,
                              const std::exception_ptr& thrown);

}  // namespace loom
