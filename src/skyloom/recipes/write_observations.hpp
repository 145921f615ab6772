// SPDX-License-Identifier: BSD-3-Clause
// The recipe of files: time-ordered data -> an HDF5 file for each observation.
#pragma once

#include <string>
#include <vector>

#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "loom/files/atomic_file.hpp"
#include "skyloom/tod/observation.hpp"

namespace skyloom {

/// Which of several processes this is: each writes every `size`th observation.
struct Turn {
  std::size_t rank = 0, size = 1;
};

/// FOLDER/NAME.h5 of each observation.
[[nodiscard]] std::vector<std::string> observation_files(const TodSource& source,
                                                         const std::string& folder);

/// Writes those, of which none is begun where one of them is there and is to stay; returns their
/// paths, in the order of observations. Throws what writing throws, kInterrupted.
std::vector<std::string> write_observations(const TodSource& source, const std::string& folder,
                                            Overwrite overwrite, Executor& executor,
                                            const Observer& observer = {}, const Turn& turn = {});

}  // namespace skyloom
