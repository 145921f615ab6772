// SPDX-License-Identifier: BSD-3-Clause
// The files below a folder, where links may lead anywhere: to each other, back to where one came
// from, to what is there under its own name too.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace loom {

struct FilesBelow {
  std::vector<std::string> files;  ///< all that is no folder, in the order of the names
  /// Folders that cannot be read, with the reason: "a/b: Permission denied".
  std::vector<std::string> unreadable;
};

/// Which folders below are looked into, by their names.
using EntersFolder = std::function<bool(const std::string& name)>;

/// Looks at most `depth` folders deep, 1: at those of `folder` itself. Links to folders are
/// followed; a folder that several names lead to is looked at once, by its own name where that lies
/// below, so that circles of links end. Where `folder` itself cannot be read that is all that it
/// says.
[[nodiscard]] FilesBelow files_below(const std::string& folder, int depth = 1000,
                                     const EntersFolder& enters = {});

/// A file to read, or a link to one that is gone: whoever reads that says so, while it would be
/// missed by nobody if it were passed over.
[[nodiscard]] bool is_file_or_lost(const std::string& path) noexcept;

}  // namespace loom
