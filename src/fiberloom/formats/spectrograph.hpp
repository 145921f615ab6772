// SPDX-License-Identifier: BSD-3-Clause
// Which spectrograph a file is of, and its fibres' numbers.
#pragma once

#include <cstdint>
#include <optional>

#include "fiberloom/foundation.hpp"
#include "loom/fits/raw_table.hpp"  // HeaderCards

namespace fiberloom {

/// Of DESI: fibre 500 p + k is the k-th of spectrograph (petal) p.
inline constexpr std::int64_t kFibersOfSpectrograph = 500;

/// SPECGRPH, else the digit of CAMERA ("b3").
[[nodiscard]] std::optional<std::int64_t> spectrograph_of(const HeaderCards& header);

}  // namespace fiberloom
