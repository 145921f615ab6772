// SPDX-License-Identifier: BSD-3-Clause
// The transforms of one ISA level (compiled once for each).
#include "loom/fft/fft_lane.hpp"
#include "loom/fft/long_lane.hpp"
#include "loom/simd/pack.hpp"

namespace loom::FIBERLOOM_ISA_NS {

extern const fft::Kernels kFft;
const fft::Kernels kFft{lane::transform<FloatPack>, lane::transform<Pack>, turn_rows,
                        transpose_elements};

}  // namespace loom::FIBERLOOM_ISA_NS
