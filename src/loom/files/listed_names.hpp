// SPDX-License-Identifier: BSD-3-Clause
// Lists of files: texts with a name a line.
#pragma once

#include <string>
#include <vector>

namespace loom {

/// The names of a list, in its order: the first word of each line, what follows is a remark. Lines
/// that begin with # are none; a name with blanks stands in double quotes. `list` is called by that
/// in the kUsage that an open quote is.
[[nodiscard]] std::vector<std::string> listed_names(const std::string& text,
                                                    const std::string& list);

}  // namespace loom
