// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/quality/exposure_picture.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "fiberloom/recipes/calibration_steps.hpp"
#include "fiberloom/recipes/report/thumbnail.hpp"
#include "loom/base/error.hpp"
#include "loom/files/atomic_file.hpp"

namespace fiberloom {
namespace {

constexpr std::size_t kMostColumns = 160;  // of a camera
constexpr std::size_t kMostRows = 50;      // of a spectrograph
constexpr std::size_t kGap = 2;            // between them
constexpr std::string_view kBands = "brz";

Array2D<float> as_float(const Array2D<double>& from) {
  Array2D<float> out(from.rows(), from.cols());
  std::transform(from.data(), from.data() + from.size(), out.data(),
                 [](double v) { return static_cast<float>(v); });
  return out;
}

/// Of a camera: means of blocks of fibres and bins.
Array2D<double> blocks_of(const FrameFile& frame) {
  const auto each = [](std::size_t n, std::size_t most) { return (n + most - 1) / most; };
  const report::Block block{each(frame.nspec(), kMostRows), each(frame.nwave(), kMostColumns)};
  return report::block_mean(as_float(frame.flux), as_float(frame.ivar), block);
}

/// Spectrograph and band of what is drawn there.
using Tiles = std::map<std::pair<int, std::size_t>, Array2D<double>>;

/// Side by side and one over the other; nothing (NaN) where no camera is.
Array2D<double> join(const Tiles& tiles) {
  std::map<int, std::size_t> heights;
  std::map<std::size_t, std::size_t> widths;
  for (const auto& [place, tile] : tiles) {
    auto& [petal, band] = place;
    heights[petal] = std::max(heights[petal], tile.rows());
    widths[band] = std::max(widths[band], tile.cols());
  }
  const auto place_all = [](auto& sizes) {  // sizes become beginnings
    std::size_t at = 0;
    for (auto& [key, size] : sizes) at += std::exchange(size, at) + kGap;
    return at - kGap;
  };
  const std::size_t rows = place_all(heights), cols = place_all(widths);
  Array2D<double> out(rows, cols, std::numeric_limits<double>::quiet_NaN());
  for (const auto& [place, tile] : tiles) {
    const std::size_t row = heights.at(place.first), col = widths.at(place.second);
    for (std::size_t r = 0; r < tile.rows(); ++r) {
      std::copy_n(tile.row(r), tile.cols(), out.row(row + r) + col);
    }
  }
  return out;
}

}  // namespace

void draw_exposure(const std::vector<std::string>& frames, const std::string& path, Verify verify) {
  if (frames.empty()) throw Error(Status::kUsage, path + ": no frame to draw");
  Tiles tiles;
  for (const std::string& file : frames) {
    const FrameFile frame = read_frame(file, verify, FrameTables::kFibermap);
    const std::string camera = calibration::require_camera(file, "FLUX", frame.header);
    tiles[{camera[1] - '0', kBands.find(camera[0])}] = blocks_of(frame);
  }
  const Array2D<double> all = join(tiles);
  const std::vector<std::uint8_t> png =
      report::draw(all, report::image_stretch(all), report::sequential_palette());
  write_whole(path, {reinterpret_cast<const char*>(png.data()), png.size()}, Overwrite::kYes);
}

}  // namespace fiberloom
