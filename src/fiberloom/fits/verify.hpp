// SPDX-License-Identifier: BSD-3-Clause
// Is a file still what was written? Knows checksums, not contents.
#pragma once

#include <cstdint>
#include <string>

namespace fiberloom::fits {

/// CRC-32 (gzip's) of the bytes as they are on disk. Throws kNotFound.
[[nodiscard]] std::uint32_t file_crc32(const std::string& path);

/// Reads a FITS file (packed or not) and compares DATASUM and CHECKSUM of every HDU. Throws
/// kCorrupt, naming the HDU, when one differs or is not there; and what opening throws.
void verify_checksums(const std::string& path);

}  // namespace fiberloom::fits
