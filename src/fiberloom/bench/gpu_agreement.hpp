// SPDX-License-Identifier: BSD-3-Clause
// Two results of one frame held against each other: the device's against the CPU engine's, or two
// that must be the same bytes. A NaN agrees with nothing.
#pragma once

#include <string>

#include "fiberloom/extract/extract.hpp"

namespace fiberloom {

struct GpuAgreement {
  bool passed = false;
  std::string detail;  ///< the largest differences, and how many were too large
};

/// Flux in sigma within 1e-9 + 10 eps kappa, kappa that of the bin's own bundle; the other arrays
/// within what that means for them. Where the CPU found no information, the device must not either.
[[nodiscard]] GpuAgreement compare_with_cpu(const ExtractResult& cpu, const ExtractResult& gpu);

/// All arrays, byte by byte.
[[nodiscard]] bool same_bytes(const ExtractResult& a, const ExtractResult& b);

}  // namespace fiberloom
