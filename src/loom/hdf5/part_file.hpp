// SPDX-License-Identifier: BSD-3-Clause
// Files that stay while they are not whole (Unfinished::kStays): onto the disk, and to their names.
#pragma once

#include <string>

#include "loom/files/atomic_file.hpp"

namespace loom::hdf5 {

/// All that belongs to a file or a folder goes to the disk. `path` is for the message.
void flush_to_disk(const std::string& place, const std::string& path);

/// The file at part_name(path) gets its name. Throws kOutputExists, kUnwritable, kDiskFull.
void publish_part(const std::string& path, Overwrite overwrite);

}  // namespace loom::hdf5
