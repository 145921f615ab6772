// SPDX-License-Identifier: BSD-3-Clause
// What spoils a frame: cosmic rays, dead columns and blocks, saturated rows, a bad amplifier.
#pragma once

#include <cstdint>

#include "fiberloom/simulate/noise.hpp"

namespace fiberloom {

struct CosmicOptions {
  /// tracks on a full DESI CCD (17 million pixels); a smaller CCD gets its share
  double tracks_per_ccd = 600;
  double mean_length = 8;      ///< pixels
  double mean_charge_e = 400;  ///< a pixel
  std::uint64_t seed = 1;
  StreamOwner owner;
};

/// Draws tracks of touched pixels: their charge is added to the image and kCcdCosmic set; ivar
/// stays as it is, as in DESI's preprocessed frames. Returns the number of tracks.
std::size_t add_cosmics(NoisyFrame& frame, const CosmicOptions& options);

/// Counts are for the whole frame, whatever its size; 0 leaves a kind of defect out.
struct DefectOptions {
  int dead_columns = 6;  ///< each a run of rows of one column
  int dead_blocks = 3;
  int block_rows = 51, block_cols = 25;
  int saturated_rows = 3;  ///< each 3 rows high over a stretch of columns
  double saturation_e = 65000;
  int bad_amplifiers = 1;  ///< quadrants, 0..4
  std::uint64_t seed = 1;
  StreamOwner owner;
};

/// Applies the defects. A dead pixel is 0, a saturated one saturation_e, one of a bad amplifier
/// keeps its value; all get ivar 0 and their mask bit (dead: kCcdDead | kCcdBad).
void add_defects(NoisyFrame& frame, const DefectOptions& options);

}  // namespace fiberloom
