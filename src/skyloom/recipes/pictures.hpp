// SPDX-License-Identifier: BSD-3-Clause
// Maps as pictures of a page: the whole of one, and a part of it. Which pixels they show is found
// once for all columns.
#pragma once

#include <string>
#include <vector>

#include "loom/json/json.hpp"
#include "skyloom/recipes/projection.hpp"
#include "skyloom/sky/map_file.hpp"

namespace skyloom {

class Pictures {
 public:
  /// A part of `size_deg` around `middle`. HEALPix: the whole sky in an ellipse, the part as a
  /// camera sees it. A flat map: its own cells, smaller where they are many; no part where it would
  /// show the whole. Throws kUsage where `middle` is beyond the edges of a flat map.
  Pictures(const MapGrid& grid, const SkyPlace& middle, double size_deg);
  /// Of a column: both pictures, `whole` and `part` (null: none), and the window of colours, what
  /// all values but one in a hundred on either side lie between.
  [[nodiscard]] Json json(const std::vector<double>& values, const std::string& name,
                          const char* of) const;

 private:
  struct Picture {
    std::size_t width = 0, height = 0;
    std::vector<std::int32_t> pixels = {};  ///< of the map; -1: the paper's corner
    Json cells = nullptr;                   ///< of a flat map: first column and row, columns, rows
  };
  [[nodiscard]] static Picture cells_of(const ImagePlace& image, std::size_t column,
                                        std::size_t row, std::size_t columns, std::size_t rows,
                                        std::size_t most);
  void add_cells(const ImagePlace& image, const SkyPlace& middle, double size_deg);
  [[nodiscard]] static Json json_of(const Picture& picture, const std::vector<double>& values);
  Picture whole_, part_;  ///< of no pixels: there is none
};

/// Where most samples are, by the weights of all pixels (NaN: none).
[[nodiscard]] SkyPlace busiest(const MapGrid& grid, const std::vector<double>& weights);

}  // namespace skyloom
