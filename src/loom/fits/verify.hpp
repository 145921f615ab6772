// SPDX-License-Identifier: BSD-3-Clause
// Is a file still what was written? Knows checksums, not contents.
#pragma once

#include <cstdint>
#include <string>

#include "loom/fits/checksum.hpp"
#include "loom/fits/hdu.hpp"

namespace loom::fits {

/// Does the header say what its bytes must sum to? An empty card says nothing.
[[nodiscard]] bool has_checksums(const Hdu& hdu);

/// Adds the bytes [first, last) of a file.
/// Precondition: last - first is a multiple of 4.
void add_bytes(Checksum& sum, const ByteSource& source, std::uint64_t first, std::uint64_t last);

/// Compares DATASUM and CHECKSUM, where they are, with the sum of the data unit and its padding.
/// Empty when all is well; else what was found and expected.
[[nodiscard]] std::string checksum_fault(const Hdu& hdu, std::uint32_t data_sum);
/// The same, reading the data unit.
[[nodiscard]] std::string checksum_fault(const Hdu& hdu, const ByteSource& source);

/// Reads a FITS file (packed or not) and compares DATASUM and CHECKSUM of every HDU. Throws
/// kCorrupt, naming the HDU, when one differs or is not there; and what opening throws.
void verify_checksums(const std::string& path);

}  // namespace loom::fits
