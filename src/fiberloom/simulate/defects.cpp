// SPDX-License-Identifier: BSD-3-Clause
// Serial: a frame has few defects, and their order is part of the result.
#include "fiberloom/simulate/defects.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "loom/base/rng.hpp"

namespace fiberloom {
namespace {

constexpr double kFullCcdPixels = 4128.0 * 4114.0;

struct Box {
  std::size_t row0 = 0, row1 = 0, col0 = 0, col1 = 0;
};

/// A start such that `length` fits into n (or 0), from a uniform number.
std::size_t place(double u, std::size_t n, std::size_t length) {
  if (length >= n) return 0;
  return static_cast<std::size_t>(u * static_cast<double>(n - length + 1));
}

void spoil(NoisyFrame& frame, const Box& box, std::uint32_t bits) {
  for (std::size_t r = box.row0; r < std::min(box.row1, frame.image.rows()); ++r) {
    for (std::size_t c = box.col0; c < std::min(box.col1, frame.image.cols()); ++c) {
      frame.ivar(r, c) = 0;
      frame.mask(r, c) |= bits;
    }
  }
}

void fill(NoisyFrame& frame, const Box& box, double value) {
  for (std::size_t r = box.row0; r < std::min(box.row1, frame.image.rows()); ++r) {
    for (std::size_t c = box.col0; c < std::min(box.col1, frame.image.cols()); ++c) {
      frame.image(r, c) = static_cast<float>(value);
    }
  }
}

}  // namespace

std::size_t add_cosmics(NoisyFrame& frame, const CosmicOptions& o) {
  const CounterRng rng(o.seed, rng_stream(Draw::kCosmics, o.owner));
  const auto rows = static_cast<double>(frame.image.rows());
  const auto cols = static_cast<double>(frame.image.cols());
  const auto n = static_cast<std::size_t>(
      std::lround(std::max(0.0, o.tracks_per_ccd) * rows * cols / kFullCcdPixels));
  constexpr std::uint64_t kBlock = 1024;  // counters of a track
  for (std::size_t track = 0; track < n; ++track) {
    const std::uint64_t base = track * kBlock;
    const auto place_yx = rng.uniform2(base), shape = rng.uniform2(base + 1);
    const double angle = std::numbers::pi * shape[0];
    const double length = std::min(1.0 - o.mean_length * std::log(shape[1]), 250.0);
    double last_r = -1, last_c = -1;
    for (std::uint64_t step = 0; step < 4 * static_cast<std::uint64_t>(length); ++step) {
      const double s = 0.25 * static_cast<double>(step);
      const double r = std::floor(place_yx[0] * rows + s * std::sin(angle));
      const double c = std::floor(place_yx[1] * cols + s * std::cos(angle));
      if (r == last_r && c == last_c) continue;
      last_r = r;
      last_c = c;
      if (r < 0 || r >= rows || c < 0 || c >= cols) continue;
      const double charge = -o.mean_charge_e * std::log(rng.uniform(base + 2 + step));
      const auto ri = static_cast<std::size_t>(r), ci = static_cast<std::size_t>(c);
      frame.image(ri, ci) += static_cast<float>(std::round(charge));
      frame.mask(ri, ci) |= kCcdCosmic;
    }
  }
  return n;
}

void add_defects(NoisyFrame& frame, const DefectOptions& o) {
  const CounterRng rng(o.seed, rng_stream(Draw::kDefects, o.owner));
  const std::size_t rows = frame.image.rows(), cols = frame.image.cols();
  std::uint64_t next = 0;
  for (int i = 0; i < o.dead_columns; ++i) {
    const auto u = rng.uniform2(next++), v = rng.uniform2(next++);
    const auto length = static_cast<std::size_t>((0.1 + 0.6 * v[0]) * static_cast<double>(rows));
    const std::size_t r = place(u[0], rows, length), c = place(u[1], cols, 1);
    const Box box{r, r + length, c, c + (v[1] < 0.3 ? 2U : 1U)};
    fill(frame, box, 0);
    spoil(frame, box, kCcdDead | kCcdBad);
  }
  for (int i = 0; i < o.dead_blocks; ++i) {
    const auto u = rng.uniform2(next++);
    const auto h = static_cast<std::size_t>(std::max(o.block_rows, 0));
    const auto w = static_cast<std::size_t>(std::max(o.block_cols, 0));
    const std::size_t r = place(u[0], rows, h), c = place(u[1], cols, w);
    const Box box{r, r + h, c, c + w};
    fill(frame, box, 0);
    spoil(frame, box, kCcdDead | kCcdBad);
  }
  for (int i = 0; i < o.saturated_rows; ++i) {
    const auto u = rng.uniform2(next++);
    const std::size_t length = cols / 4;
    const std::size_t r = place(u[0], rows, 3), c = place(u[1], cols, length);
    const Box box{r, r + 3, c, c + length};
    fill(frame, box, o.saturation_e);
    spoil(frame, box, kCcdSaturated);
  }
  const auto first = static_cast<std::size_t>(4.0 * rng.uniform(next++));
  for (int i = 0; i < std::min(o.bad_amplifiers, 4); ++i) {
    const std::size_t quadrant = (first + static_cast<std::size_t>(i)) % 4;
    const std::size_t top = quadrant / 2, right = quadrant % 2;
    spoil(frame,
          {top != 0 ? rows / 2 : 0, top != 0 ? rows : rows / 2, right != 0 ? cols / 2 : 0,
           right != 0 ? cols : cols / 2},
          kCcdBadAmp);
  }
}

}  // namespace fiberloom
