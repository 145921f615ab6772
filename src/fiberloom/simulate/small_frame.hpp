// SPDX-License-Identifier: BSD-3-Clause
// A frame small enough for a test, whose truth is exact: light defined on the bins of the
// extraction grid (and on, beyond it, to the edges of the CCD), so that p = A f + n holds exactly.
#pragma once

#include <cstdint>
#include <vector>

#include "fiberloom/simulate/noise.hpp"
#include "fiberloom/simulate/simulated_psf.hpp"
#include "loom/base/array.hpp"
#include "loom/base/executor.hpp"

namespace fiberloom {

enum class LightPattern {
  kSky,    ///< continuum of each fibre's own height and narrow lines, some fibres faint
  kFlat,   ///< continuum_e everywhere
  kSpike,  ///< nothing but one bin in the middle of each fibre
};
enum class FrameNoise { kNone, kPoissonAndRead };

struct SmallFrameOptions {
  int nfiber = 25;
  std::size_t nwave = 200;  ///< bins of the extraction grid
  double wave_first_aa = 6000;
  double step_aa = 0.8;
  double margin_aa = 50;  ///< the CCD (and the light) goes on beyond the grid by this much or more
  double crosstalk = 0;   ///< see SimulatedPsfOptions
  double gh_scale = 1;
  LightPattern light = LightPattern::kSky;
  double continuum_e = 40;  ///< electrons per bin
  double line_e = 20000;    ///< electrons of the brightest line
  FrameNoise noise = FrameNoise::kPoissonAndRead;
  double readnoise_e = 3;
  std::uint64_t seed = 1;
};

struct SmallFrame {
  PsfModel psf;
  std::vector<double> wave;      ///< the extraction grid, nwave bins
  std::vector<double> lit_wave;  ///< all bins that hold light; contains wave
  std::size_t first_bin = 0;     ///< lit_wave[first_bin] is wave[0]
  Array2D<double> electrons;     ///< [nfiber][lit_wave.size()], electrons per bin
  Array2D<double> mean;          ///< the noiseless CCD, electrons
  Array2D<double> image, ivar;   ///< the frame, in double
};

/// Makes one. Another PSF may be given (its own CCD then).
[[nodiscard]] SmallFrame make_small_frame(const SmallFrameOptions& options, Executor& executor);
[[nodiscard]] SmallFrame make_small_frame(const SmallFrameOptions& options, const PsfModel& psf,
                                          Executor& executor);

}  // namespace fiberloom
