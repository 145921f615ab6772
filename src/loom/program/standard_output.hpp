// SPDX-License-Identifier: BSD-3-Clause
// The only place that writes to standard output, so that nothing of it is lost in silence.
#pragma once

#include <string_view>

namespace loom {

/// Writes all of `text` before it returns. Throws kDiskFull or kUnwritable where that fails. A
/// reader that has gone (`| head`) is no failure: what it did not want is dropped, the work goes
/// on.
void put(std::string_view text);

/// Descriptors 0 to 2 that whoever started this process has closed: without them the next files to
/// be opened would get their numbers, and with them what is meant for standard output and error.
void keep_standard_descriptors();

}  // namespace loom
