// SPDX-License-Identifier: BSD-3-Clause
// Colour maps and blocks of pixels.
#include "fiberloom/recipes/report/thumbnail.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <span>

namespace fiberloom::report {
namespace {

constexpr int kColours = 255;  // the last entry is "nothing"

double to_linear(double channel) {
  const double c = channel / 255;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

std::uint8_t from_linear(double light) {
  const double c = light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(255 * std::clamp(c, 0.0, 1.0)));
}

/// Between the anchors in cube roots of light, near to what the eye takes as even steps.
std::uint8_t between(std::uint8_t a, std::uint8_t b, double t) {
  const double mix = (1 - t) * std::cbrt(to_linear(a)) + t * std::cbrt(to_linear(b));
  return from_linear(mix * mix * mix);
}

Palette ramp(std::span<const Rgb> anchors) {
  Palette out{};
  for (int i = 0; i < kColours; ++i) {
    const double at =
        static_cast<double>(i) / (kColours - 1) * static_cast<double>(anchors.size() - 1);
    const std::size_t k = std::min(static_cast<std::size_t>(at), anchors.size() - 2);
    const double t = at - static_cast<double>(k);
    const Rgb a = anchors[k], b = anchors[k + 1];
    out[static_cast<std::size_t>(i)] = {between(a.red, b.red, t), between(a.green, b.green, t),
                                        between(a.blue, b.blue, t)};
  }
  return out;
}

/// Calls visit(block row, block column, sum over pixels) after adding up each block with `add`.
template <class Add, class Take>
Array2D<double> over_blocks(std::size_t rows, std::size_t cols, Block block, Add add, Take take) {
  Array2D<double> out((rows + block.rows - 1) / block.rows, (cols + block.cols - 1) / block.cols);
  std::vector<double> sum(out.cols()), weight(out.cols());
  for (std::size_t br = 0; br < out.rows(); ++br) {
    std::fill(sum.begin(), sum.end(), 0.0);
    std::fill(weight.begin(), weight.end(), 0.0);
    for (std::size_t r = br * block.rows; r < std::min(rows, (br + 1) * block.rows); ++r) {
      for (std::size_t c = 0; c < cols; ++c) add(r, c, sum[c / block.cols], weight[c / block.cols]);
    }
    for (std::size_t bc = 0; bc < out.cols(); ++bc) out(br, bc) = take(sum[bc], weight[bc]);
  }
  return out;
}

}  // namespace

Palette sequential_palette() {
  static constexpr Rgb kAnchors[] = {{10, 12, 40},   {34, 50, 120},  {28, 105, 150}, {52, 155, 125},
                                     {150, 195, 85}, {250, 225, 95}, {255, 250, 215}};
  return ramp(kAnchors);
}

Palette diverging_palette() {
  static constexpr Rgb kAnchors[] = {{8, 60, 130},    {70, 140, 205},  {190, 215, 235},
                                     {247, 246, 243}, {246, 205, 160}, {224, 130, 50},
                                     {140, 62, 5}};
  return ramp(kAnchors);
}

std::vector<std::string> palette_stops(const Palette& palette, int n) {
  std::vector<std::string> out;
  for (int i = 0; i < n; ++i) {
    const Rgb c = palette[static_cast<std::size_t>(i * (kColours - 1) / (n - 1))];
    char text[8];
    std::snprintf(text, sizeof text, "#%02x%02x%02x", c.red, c.green, c.blue);
    out.emplace_back(text);
  }
  return out;
}

double Stretch::place(double value) const noexcept {
  if (!(high > low)) return 0.5;
  if (soft <= 0) return std::clamp((value - low) / (high - low), 0.0, 1.0);
  return std::clamp(std::asinh((value - low) / soft) / std::asinh((high - low) / soft), 0.0, 1.0);
}

Block block_for(std::size_t rows, std::size_t cols, std::size_t limit) {
  const auto side = [&](std::size_t n) {
    return std::max<std::size_t>(1, (n + limit - 1) / limit);
  };
  return {side(rows), side(cols)};
}

Array2D<float> crop(const Array2D<float>& image, const Region& region) {
  if (image.empty()) return {};
  Array2D<float> out(region.rows, region.cols);
  for (std::size_t r = 0; r < region.rows; ++r) {
    std::copy_n(image.row(region.row + r) + region.col, region.cols, out.row(r));
  }
  return out;
}

Region lit_region(const Array2D<float>& model, std::size_t margin) {
  std::size_t r0 = model.rows(), r1 = 0, c0 = model.cols(), c1 = 0;
  for (std::size_t r = 0; r < model.rows(); ++r) {
    for (std::size_t c = 0; c < model.cols(); ++c) {
      if (model(r, c) == 0.0F) continue;
      r0 = std::min(r0, r), r1 = std::max(r1, r + 1);
      c0 = std::min(c0, c), c1 = std::max(c1, c + 1);
    }
  }
  if (r1 == 0) return {0, 0, model.rows(), model.cols()};
  const auto before = [&](std::size_t at) { return at - std::min(at, margin); };
  const std::size_t row = before(r0), col = before(c0);
  return {row, col, std::min(model.rows(), r1 + margin) - row,
          std::min(model.cols(), c1 + margin) - col};
}

Array2D<double> block_mean(const Array2D<float>& image, const Array2D<float>& ivar, Block block) {
  return over_blocks(
      image.rows(), image.cols(), block,
      [&](std::size_t r, std::size_t c, double& sum, double& n) {
        if ((!ivar.empty() && !(ivar(r, c) > 0)) || !std::isfinite(image(r, c))) return;
        sum += image(r, c);
        n += 1;
      },
      [](double sum, double n) {
        return n > 0 ? sum / n : std::numeric_limits<double>::quiet_NaN();
      });
}

Array2D<double> block_significance(const Array2D<float>& residual, const Array2D<float>& model,
                                   const Array2D<float>& ivar, Block block) {
  return over_blocks(
      residual.rows(), residual.cols(), block,
      [&](std::size_t r, std::size_t c, double& sum, double& variance) {
        if (!(ivar(r, c) > 0) || model(r, c) == 0 || !std::isfinite(residual(r, c))) return;
        sum += residual(r, c);
        variance += 1.0 / ivar(r, c);
      },
      [](double sum, double variance) {
        return variance > 0 ? sum / std::sqrt(variance) : std::numeric_limits<double>::quiet_NaN();
      });
}

Stretch image_stretch(const Array2D<double>& blocks) {
  std::vector<double> sorted;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (std::isfinite(blocks.data()[i])) sorted.push_back(blocks.data()[i]);
  }
  if (sorted.empty()) return {};
  std::sort(sorted.begin(), sorted.end());
  const auto at = [&](double part) {
    return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
  };
  Stretch out{at(0.01), at(0.995), 0};
  out.soft = std::max(at(0.5) - out.low, (out.high - out.low) / 100);
  return out;
}

std::vector<std::uint8_t> draw(const Array2D<double>& blocks, const Stretch& stretch,
                               const Palette& palette) {
  Array2D<std::uint8_t> pixels(blocks.rows(), blocks.cols());
  for (std::size_t r = 0; r < blocks.rows(); ++r) {
    for (std::size_t c = 0; c < blocks.cols(); ++c) {
      const double value = blocks(blocks.rows() - 1 - r, c);
      pixels(r, c) =
          std::isfinite(value)
              ? static_cast<std::uint8_t>(std::lround(stretch.place(value) * (kColours - 1)))
              : kNothing;
    }
  }
  return encode_png(pixels, palette);
}

}  // namespace fiberloom::report
