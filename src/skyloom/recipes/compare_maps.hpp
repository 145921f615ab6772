// SPDX-License-Identifier: BSD-3-Clause
// Two maps, pixel by pixel: how far they are apart.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "loom/base/log.hpp"
#include "skyloom/sky/map_file.hpp"

namespace skyloom {

/// Of one column, first - second, where both have a value.
struct ColumnDifference {
  std::string name;
  std::size_t pixels = 0;                         ///< with a value in both
  std::size_t first_alone = 0, second_alone = 0;  ///< with a value in one of them
  double mean_first = 0, mean_second = 0;
  double spread_second = 0;  ///< root of the mean square of the second, about its mean
  double rms = 0;            ///< of the difference
  double relative = 0;       ///< that over the spread of the second
  double largest = 0;        ///< absolute difference
  Pixel largest_at = 0;      ///< NESTED; of flat maps row * columns + column
  double correlation = 0;
};

enum class Means { kKept, kTakenOff };

/// `means`: whether the mean of the difference counts; in destriped maps that of I is nobody's.
[[nodiscard]] ColumnDifference compare_columns(const std::string& name,
                                               std::span<const double> first,
                                               std::span<const double> second, Means means);

struct MapDifference {
  std::vector<ColumnDifference> columns;
  std::size_t width = 0;  ///< columns of cells of flat maps; 0: HEALPix
};

/// All columns that both maps have, the first one's means as told, others kept. Throws
/// kPixelisation where the pixels (Nside, or the grid) or the number of columns differ, and what
/// reading throws. Other units or coordinates are told of.
[[nodiscard]] MapDifference compare_maps(const std::string& first, const std::string& second,
                                         Means means, const Observer& observer = {});

struct MapShape {
  std::string path;
  MapGrid grid;
  std::vector<std::string> columns = {};  ///< names
  std::string unit = {}, frame = {};      ///< empty: not said
};
/// Throws kPixelisation where pixels or the number of columns differ; tells of other units or
/// coordinates, and of I, Q, U at other places, which numbers do not show.
void require_alike(const MapShape& a, const MapShape& b, const Observer& observer);

}  // namespace skyloom
