// SPDX-License-Identifier: BSD-3-Clause
// The one door to cfitsio, for the codec that we have not: HCOMPRESS_1.
#pragma once

#include <vector>

#include "fiberloom/fits/byte_source.hpp"
#include "fiberloom/fits/hdu.hpp"

namespace fiberloom::fits {

/// All pixels before BSCALE and BZERO, as doubles, BLANK as NaN. cfitsio sees a header that is
/// written anew from checked values, in memory, and tiles whose own size fields have been checked.
/// Throws kCorrupt.
[[nodiscard]] std::vector<double> read_with_cfitsio(const ByteSource& source, const Hdu& hdu);

}  // namespace fiberloom::fits
