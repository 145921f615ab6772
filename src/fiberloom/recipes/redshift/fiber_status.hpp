// SPDX-License-Identifier: BSD-3-Clause
// desispec's bits of FIBERSTATUS, as far as redshifts know of them.
#pragma once

#include <array>
#include <cstdint>

namespace fiberloom::fiber_status {

constexpr std::int64_t bit(int n) { return std::int64_t{1} << n; }
inline constexpr std::int64_t kUnassigned = bit(0), kBroken = bit(2), kMissingPosition = bit(8),
                              kBadPosition = bit(9), kPoorPosition = bit(10),
                              kBrightNeighbor = bit(11), kBadFiber = bit(16), kBadTrace = bit(17),
                              kBadFlat = bit(18), kBadArc = bit(19), kManyRejected = bit(21);
/// Of the cameras b, r, z.
inline constexpr std::array<std::int64_t, 3> kBadAmp{bit(22), bit(23), bit(24)};

}  // namespace fiberloom::fiber_status
