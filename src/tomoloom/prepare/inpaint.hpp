// SPDX-License-Identifier: BSD-3-Clause
// Values under a mask made up from those around it, from its rim inwards (Kazantsev et al. 2023).
// The numbers are those of TomoPy's inpainter_morph, but for what algorithm.md names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "loom/base/executor.hpp"
#include "loom/simd/isa.hpp"
#include "tomoloom/foundation.hpp"

namespace tomoloom {

enum class Inpaint {
  kMean,    ///< weighted by exp(-d^2 / 2 s), s the pixels of the window
  kMedian,  ///< of a volume; of planes TomoPy's, which leaves one value out
  kRandom,  ///< the mean of two that are drawn, smoothed at the end
};

struct InpaintChoice {
  Inpaint kind = Inpaint::kRandom;
  std::size_t reach = 5;   ///< the window: pixels to either side, at least 1
  std::size_t passes = 1;  ///< over all of the mask, when it is full
  std::uint64_t seed = 0;  ///< of kRandom
};

/// Of values [plane][row][column].
struct InpaintShape {
  std::size_t planes = 1, rows = 0, columns = 0;
  [[nodiscard]] std::size_t size() const noexcept { return planes * rows * columns; }
};

/// Replaces what `mask` marks, in place. What has a neighbour that has a value gets one from those
/// of its window that have, all such at once, until none is left; then in each pass all get new
/// ones. A value that is 0 or no number counts as none and stays where it is not marked; what is
/// not reached becomes 0. The same for any executor. O(marked window); memory for two more volumes.
void inpaint(std::span<float> values, std::span<const bool> mask, const InpaintShape& shape,
             const InpaintChoice& choice, Executor& executor, Isa isa = active_isa());

/// Each plane by itself.
void inpaint_planes(std::span<float> values, std::span<const bool> mask, const InpaintShape& shape,
                    const InpaintChoice& choice, Executor& executor, Isa isa = active_isa());

}  // namespace tomoloom
