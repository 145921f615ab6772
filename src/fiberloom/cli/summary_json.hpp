// SPDX-License-Identifier: BSD-3-Clause
// --json of `extract`: everything about a run that has no place in the files.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "fiberloom/recipes/extract_frame.hpp"

namespace fiberloom::cli {

struct RunFacts {
  std::map<std::string, std::string> options;  ///< as given on the command line
  std::size_t threads = 1;
  std::string_view executor, isa;
  const DeviceEngine* device = nullptr;  ///< null: the CPU computed
  double wall_s = 0;                     ///< since the command line was understood
};

[[nodiscard]] std::string summary_json(const ExtractSummary& summary, const ExtractJob& job,
                                       const RunFacts& facts, const Tracer& tracer);

}  // namespace fiberloom::cli
