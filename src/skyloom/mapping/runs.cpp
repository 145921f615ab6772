// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/mapping/runs.hpp"

#include <algorithm>
#include <utility>

#include "skyloom/good_sample.hpp"

namespace skyloom {
void Stream::keep_signal_alone() {
  if (products.empty()) return;
  signal.resize(products.size());
  for (std::size_t i = 0; i < products.size(); ++i) signal[i] = products[i].d;
  std::vector<RunProducts>().swap(products);
  runs.shrink_to_fit();
  segments.shrink_to_fit();
}

RunBuilder::RunBuilder(const TileGrid& tiles, std::size_t step, double weight)
    : tiles_(tiles), step_(step) {
  stream_.weight = weight;
  stream_.lengths.push_back(0);
}

void RunBuilder::add(const SampleBlock& block) {
  for (std::size_t first = 0; first < block.pixels.size();) {
    if (step_ > 0 && at_ == step_) {
      close();
      new_segment_ = true;
      stream_.lengths.push_back(0);
      at_ = 0;
    }
    const std::size_t left = block.pixels.size() - first;
    const std::size_t n = step_ > 0 ? std::min(left, step_ - at_) : left;
    add_part(block, first, first + n);
    at_ += n;
    stream_.lengths.back() += static_cast<std::uint32_t>(n);
    first += n;
  }
}

void RunBuilder::add_part(const SampleBlock& block, std::size_t first, std::size_t end) {
  for (std::size_t i = first; i < end; ++i) {
    if (!block.flags.empty() && block.flags[i] != 0) {
      ++stream_.flagged;
      continue;
    }
    const double d = block.signal[i];
    if (!is_signal(d)) {
      ++stream_.not_finite;
      continue;
    }
    if (block.pixels[i] != pixel_ || sums_.n == kMostSamples) begin(block.pixels[i]);
    lane::add_sample(block.q[i], block.u[i], d, sums_);
  }
}

void RunBuilder::begin(Pixel pixel) {
  close();
  const std::int32_t tile = tiles_.tile(pixel);
  if (new_segment_ || stream_.segments.back().tile != tile) {
    stream_.segments.push_back({tile, static_cast<std::uint32_t>(stream_.lengths.size() - 1), 0});
    new_segment_ = false;
  }
  pixel_ = pixel;
}

void RunBuilder::close() {
  if (pixel_ < 0) return;
  stream_.runs.push_back({sums_.q, sums_.u, static_cast<float>(sums_.n), tiles_.place(pixel_)});
  stream_.products.push_back(sums_.products);
  ++stream_.segments.back().runs;
  stream_.good += static_cast<std::size_t>(sums_.n);
  pixel_ = -1;
  sums_ = {};
}

Stream RunBuilder::finish() {
  close();
  if (stream_.lengths.back() == 0 && stream_.lengths.size() > 1) stream_.lengths.pop_back();
  return std::move(stream_);
}

}  // namespace skyloom
