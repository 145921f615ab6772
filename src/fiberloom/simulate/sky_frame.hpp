// SPDX-License-Identifier: BSD-3-Clause
// A frame of continua and of the night sky's lines, each line at its own wavelength and not in a
// bin: for who measures where lines lie.
#pragma once

#include <cstdint>

#include "fiberloom/psf/psf_model.hpp"
#include "fiberloom/simulate/noise.hpp"
#include "loom/base/executor.hpp"

namespace fiberloom {

struct SkyFrameOptions {
  double faintest_e = 20, brightest_e = 2000;  ///< continua, electrons an Angstrom, fibre by fibre
  double line_e = 20000;                       ///< of the brightest line
  double readnoise_e = 3;
  std::uint64_t seed = 1;  ///< of the noise
};

/// The CCD of a PSF, all of its fibres, with weights of the noiseless light.
[[nodiscard]] NoisyFrame make_sky_frame(const PsfModel& psf, const SkyFrameOptions& options,
                                        Executor& executor);

}  // namespace fiberloom
