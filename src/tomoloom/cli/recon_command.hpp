// SPDX-License-Identifier: BSD-3-Clause
// What `tomoloom recon` was told, and the ways in which it is done.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "loom/program/rank_options.hpp"
#include "tomoloom/cli/command.hpp"
#include "tomoloom/recipes/preview_scan.hpp"
#include "tomoloom/recipes/scans/many_scans.hpp"

namespace tomoloom::cli {

struct ReconCommand {
  std::vector<std::string> scans;
  ReconJob job;  ///< without its scan
  std::string memory, json;
  std::size_t threads = 0;
  RankOptions ranks;
  PreviewChoice preview;  ///< without a page: none
  // of many scans
  int retry = 0;
  scans::ClaimOptions claims;
  bool dry_run = false, verify = false, by_content = false, rebuild = false;
  LogOptions log;
};

/// One scan in this process.
[[nodiscard]] int run_one_scan(const ReconCommand& command);
/// The same by all ranks of a job.
[[nodiscard]] int run_one_scan_on_ranks(const ReconCommand& command, const Launch& launch);
/// Many scans, alone or over ranks.
[[nodiscard]] int run_many_scans(const ReconCommand& command);

/// What --json says of one scan.
struct ReconFacts {
  std::size_t threads = 0;  ///< of all ranks
  int ranks = 1;
  double wall_s = 0;
};
[[nodiscard]] std::string recon_json(const ReconSummary& summary, const ReconJob& job,
                                     const ReconFacts& facts);
/// "wrote volume.h5: 70 slices of 64 x 64 in 0.1 s (axis at column 31.500)"
[[nodiscard]] std::string recon_line(const ReconSummary& summary, const ReconJob& job,
                                     const ReconFacts& facts);

}  // namespace tomoloom::cli
