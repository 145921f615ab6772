// SPDX-License-Identifier: BSD-3-Clause
// A TOML job file as a FrameRequest. The keys are a contract (docs/fiberloom/nights.md).
#pragma once

#include <string>
#include <vector>

#include "fiberloom/recipes/night/discover.hpp"

namespace fiberloom::night {

/// A value of a table that is no frame's, as the text that an option of the command line takes.
struct JobSetting {
  std::string table, key, text;
  std::string where;  ///< "job.toml, line 7", for messages
};

/// Adds what the file says to `request`; what the command line has set (`fixed`, paths, lists)
/// stays.
/// Paths in the file are relative to its folder. Throws kNotFound, kUsage (syntax, an unknown key,
/// a value of the wrong type, each with line), kUnsupported in a build without toml++. Values of
/// the tables named `others` are returned, in their order; what they may be the caller knows. Lists
/// are one text with commas.
std::vector<JobSetting> read_job_file(const std::string& path, FrameRequest& request,
                                      const std::vector<std::string>& others = {});

}  // namespace fiberloom::night
