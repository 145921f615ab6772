// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/pictures.hpp"

#include <algorithm>
#include <cmath>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/page/levels.hpp"
#include "skyloom/sky/spectrum.hpp"

namespace skyloom {
namespace {

constexpr std::size_t kWide = 640, kPart = 320;  ///< pixels of the pictures

/// What all values but one in a hundred on either side lie between.
void window_of(const std::vector<double>& values, double& low, double& high) {
  std::vector<double> seen;
  for (const double value : values) {
    if (std::isfinite(value)) seen.push_back(value);
  }
  if (seen.empty()) return;
  const auto rank = [&](std::size_t k) {
    std::nth_element(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(k), seen.end());
    return seen[k];
  };
  low = rank(seen.size() / 100);
  high = rank(seen.size() - 1 - seen.size() / 100);
}

/// The middle of the square of 16 x 16 cells with the largest sum.
SkyPlace busiest_cells(const ImagePlace& image, const std::vector<double>& weights) {
  constexpr std::size_t kSide = 16;
  const std::size_t across = (image.columns + kSide - 1) / kSide;
  std::vector<double> sums(across * ((image.rows + kSide - 1) / kSide));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!std::isfinite(weights[i])) continue;
    sums[i / image.columns / kSide * across + i % image.columns / kSide] += weights[i];
  }
  const auto best =
      static_cast<std::size_t>(std::max_element(sums.begin(), sums.end()) - sums.begin());
  const auto middle = [](std::size_t block, std::size_t cells) {
    const std::size_t first = block * kSide, last = std::min(first + kSide, cells);
    return static_cast<double>(first + last) / 2;
  };
  return sky_place_of(image,
                      {middle(best % across, image.columns), middle(best / across, image.rows)});
}

}  // namespace

Pictures::Picture Pictures::cells_of(const ImagePlace& image, std::size_t column, std::size_t row,
                                     std::size_t columns, std::size_t rows, std::size_t most) {
  const double shrink =
      std::max(1.0, static_cast<double>(std::max(columns, rows)) / static_cast<double>(most));
  const auto points = [&](std::size_t cells) {
    return std::max<std::size_t>(
        1, static_cast<std::size_t>(std::lround(static_cast<double>(cells) / shrink)));
  };
  Picture out{.width = points(columns),
              .height = points(rows),
              .pixels = {},
              .cells = {column, row, columns, rows}};
  // the cell in the middle of a point; north is up
  for (std::size_t y = 0; y < out.height; ++y) {
    const std::size_t from_south = (2 * (out.height - 1 - y) + 1) * rows / (2 * out.height);
    for (std::size_t x = 0; x < out.width; ++x) {
      const std::size_t from_east = (2 * x + 1) * columns / (2 * out.width);
      out.pixels.push_back(
          static_cast<std::int32_t>((row + from_south) * image.columns + column + from_east));
    }
  }
  return out;
}

void Pictures::add_cells(const ImagePlace& image, const SkyPlace& middle, double size_deg) {
  whole_ = cells_of(image, 0, 0, image.columns, image.rows, kWide);
  const auto at = flat_point_of(image, middle);
  if (!at) {
    throw Error(Status::kUsage, print("the middle of the part, %g,%g: beyond the map's edges",
                                      middle.lon_deg, middle.lat_deg));
  }
  const double cells = std::max(1.0, std::round(size_deg / image.cell_deg));
  const auto count = [&](std::size_t all) {
    return cells < static_cast<double>(all) ? static_cast<std::size_t>(cells) : all;
  };
  const std::size_t columns = count(image.columns), rows = count(image.rows);
  if (columns == image.columns && rows == image.rows) return;
  const auto first = [](double place, std::size_t part, std::size_t all) {
    const double begin = std::round(place - static_cast<double>(part) / 2);
    return static_cast<std::size_t>(std::clamp(begin, 0.0, static_cast<double>(all - part)));
  };
  part_ = cells_of(image, first(at->column, columns, image.columns),
                   first(at->row, rows, image.rows), columns, rows, kPart);
}

Pictures::Pictures(const MapGrid& grid, const SkyPlace& middle, double size_deg) {
  if (grid.image) {
    add_cells(*grid.image, middle, size_deg);
    return;
  }
  const Healpix& sky = grid.pixels;
  whole_ = {.width = kWide, .height = kWide / 2, .pixels = {}};
  for (std::size_t i = 0; i < kWide * kWide / 2; ++i) {
    const auto to = mollweide(i % kWide, i / kWide, kWide, 0);
    whole_.pixels.push_back(to ? sky.nested(*to) : -1);
  }
  part_ = {.width = kPart, .height = kPart, .pixels = {}};
  for (std::size_t i = 0; i < kPart * kPart; ++i) {
    part_.pixels.push_back(sky.nested(gnomonic(i % kPart, i / kPart, kPart, size_deg, middle)));
  }
}

Json Pictures::json_of(const Picture& picture, const std::vector<double>& values) {
  const page::Levels levels = page::levels_of(picture.pixels.size(), [&](std::size_t i) {
    const std::int32_t pixel = picture.pixels[i];
    return pixel < 0 ? NAN : values[static_cast<std::size_t>(pixel)];
  });
  Json out{{"width", picture.width},
           {"height", picture.height},
           {"low", levels.low},
           {"step", levels.step},
           {"data", levels.base64}};
  if (!picture.cells.is_null()) out["cells"] = picture.cells;
  return out;
}

Json Pictures::json(const std::vector<double>& values, const std::string& name,
                    const char* of) const {
  double low = 0, high = 0;
  window_of(values, low, high);
  Json part = nullptr;
  if (!part_.pixels.empty()) part = json_of(part_, values);
  return {{"name", name},
          {"of", of},
          {"window", {low, high}},
          {"whole", json_of(whole_, values)},
          {"part", std::move(part)}};
}

SkyPlace busiest(const MapGrid& grid, const std::vector<double>& weights) {
  if (grid.image) return busiest_cells(*grid.image, weights);
  const Healpix wide(std::min<std::int64_t>(grid.pixels.nside(), 8));
  const std::vector<double> means = coarser(grid.pixels, weights, wide);
  std::size_t best = 0;
  for (std::size_t i = 0; i < means.size(); ++i) {
    if (std::isfinite(means[i]) && !(means[best] >= means[i])) best = i;
  }
  return place_of(wide.centre(static_cast<Pixel>(best)));
}

}  // namespace skyloom
