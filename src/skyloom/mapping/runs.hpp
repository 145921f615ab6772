// SPDX-License-Identifier: BSD-3-Clause
// Compressed pointing: the samples of one detector that follow one another in the same pixel and
// the same baseline, as sums. Since the weight is constant in a baseline, nothing that a map or a
// step of conjugate gradients needs is lost (docs/skyloom/algorithm.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "skyloom/mapping/run_lane.hpp"
#include "skyloom/mapping/tiles.hpp"

namespace skyloom {

/// Runs that follow one another in the same tile and baseline.
struct Segment {
  std::int32_t tile = 0;
  std::uint32_t baseline = 0;  ///< of the stream
  std::uint32_t runs = 0;
};

/// One detector's samples of one observation.
struct Stream {
  std::vector<Run> runs;
  std::vector<RunProducts> products;  ///< as many as runs, until they are in the sky's sums
  std::vector<double> signal;         ///< then their d alone
  std::vector<Segment> segments;
  std::vector<std::uint32_t> lengths;  ///< samples of each baseline, good or not
  double weight = 0;                   ///< of a sample, 1 / K^2
  std::size_t good = 0, flagged = 0, not_finite = 0;

  /// Products become signal: a sixth of their bytes.
  void keep_signal_alone();
};

/// Samples as they follow one another.
struct SampleBlock {
  std::span<const Pixel> pixels;
  std::span<const double> q, u, signal;
  std::span<const std::uint8_t> flags = {};  ///< not 0: left out; empty: none
};

/// Compresses a stream, block by block. A sample that is not finite, or beyond 1e30, is left out
/// and counted.
class RunBuilder {
 public:
  /// `step` samples a baseline, the last one may be shorter; 0: one baseline.
  RunBuilder(const TileGrid& tiles, std::size_t step, double weight);
  void add(const SampleBlock& block);
  [[nodiscard]] Stream finish();

 private:
  void add_part(const SampleBlock& block, std::size_t first, std::size_t end);
  void begin(Pixel pixel);
  void close();

  TileGrid tiles_;
  std::size_t step_, at_ = 0;  ///< samples of the present baseline so far
  Stream stream_;
  Pixel pixel_ = -1;  ///< of the open run; -1: none
  bool new_segment_ = true;
  RunSums sums_;
};

}  // namespace skyloom
