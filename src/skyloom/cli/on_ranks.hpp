// SPDX-License-Identifier: BSD-3-Clause
// A command in one process, or in each rank of an MPI job.
#pragma once

#include <functional>
#include <string>

#include "loom/program/common_options.hpp"
#include "loom/program/console.hpp"
#include "skyloom/foundation.hpp"
#include "skyloom/recipes/rank_company.hpp"

namespace skyloom::cli {

/// How the ranks of a job were opened, for --json; one process: size 1.
struct RankFacts {
  std::size_t size = 1;
  std::string library;
  double open_s = 0;
};

/// Runs `work` where the environment and --mpi say: `company` is null in a process alone. Of ranks
/// the first one alone prints what is no error; a fault in one ends all with its exit code.
int on_ranks(const std::string& mpi, const LogOptions& log,
             const std::function<void(Console& console, RankCompany* company,
                                      const RankFacts& facts)>& work);

}  // namespace skyloom::cli
