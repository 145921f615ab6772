// SPDX-License-Identifier: BSD-3-Clause
// The recipe of `fiberloom catalogue load`: redshifts, spectra, frames and their quality become
// rows of the catalogue, file by file, each in one transaction.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fiberloom/formats/formats.hpp"
#include "loom/base/log.hpp"

namespace fiberloom {

struct LoadJob {
  std::vector<std::string> inputs;  ///< files, and folders with files below them
  std::string database;             ///< path or URL
  bool again = false;               ///< also what is there and has not changed
  double wait_s = 60;               ///< for the locks of others
  Verify verify = Verify::kYes;
};

struct LoadSummary {
  std::size_t files = 0;      ///< that were read
  std::size_t unchanged = 0;  ///< passed over: their content is there
  std::size_t redshifts = 0;  ///< rows
  std::size_t groups = 0, spectra = 0, frames = 0, exposures = 0;
  std::vector<Error> failed;  ///< what each file that could not be loaded threw
};

/// A file that cannot be read is told of and passed over, all others are loaded. Throws kNotFound
/// where nothing is named, what the only file throws, and what the database does.
LoadSummary load_files(const LoadJob& job, const Observer& observer);

}  // namespace fiberloom
