// SPDX-License-Identifier: BSD-3-Clause
// The options of map-making, of `skyloom map` and `skyloom simulate --maps`.
#pragma once

#include <span>

#include "loom/options/option_row.hpp"
#include "skyloom/recipes/make_maps.hpp"

namespace skyloom {

inline constexpr const char* kMapOptions = "Maps";

[[nodiscard]] std::span<const OptionRow<MapJob>> map_option_rows();

}  // namespace skyloom
