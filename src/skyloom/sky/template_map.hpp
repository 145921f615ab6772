// SPDX-License-Identifier: BSD-3-Clause
// Maps of anything in memory, a column each, for templates of what detectors see of them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "skyloom/pixels/healpix.hpp"

namespace skyloom {

struct TemplateMap {
  Healpix pixels{1};
  std::vector<std::vector<float>> columns;  ///< [column][pixel, NESTED]
  std::size_t unseen = 0;  ///< pixels without a value of one of the columns, 0 there
  std::string frame = {};  ///< COORDSYS of what it was read from; empty: not said
};

/// The first `columns` of a HEALPix map, in whatever units. Throws what MapTable throws;
/// kPixelisation: a flat map; kWrongShape: fewer columns.
[[nodiscard]] TemplateMap read_template_map(const std::string& path, std::size_t columns);

}  // namespace skyloom
