// SPDX-License-Identifier: BSD-3-Clause
// From the noiseless CCD to what a detector reads: Poisson and read noise, and their variance.
#pragma once

#include <cstdint>

#include "fiberloom/foundation.hpp"
#include "fiberloom/simulate/streams.hpp"
#include "loom/base/array.hpp"
#include "loom/base/executor.hpp"
#include "loom/base/rng.hpp"

namespace fiberloom {

/// Bits of the CCD mask (desispec's ccdmask) that a simulation sets.
enum CcdMask : std::uint32_t {
  kCcdBad = 1U << 0,
  kCcdDead = 1U << 2,
  kCcdSaturated = 1U << 3,
  kCcdCosmic = 1U << 4,
  kCcdBadAmp = 1U << 9,
};

/// Where IVAR = 1 / (readnoise^2 + max(signal, 0)) takes its signal from.
enum class VarianceFrom {
  kTrueMean,  ///< the noiseless model, as DESI's model variance: unbiased, right for statistics
  kData,      ///< the noisy pixel itself
};

struct NoiseOptions {
  double readnoise_e = 3.0;  ///< must be positive
  VarianceFrom variance = VarianceFrom::kTrueMean;
  std::uint64_t seed = 1;
  StreamOwner owner;  ///< camera and exposure
};

/// A detector frame, [npix_y][npix_x]; image in electrons, ivar in 1/electron^2.
struct NoisyFrame {
  Array2D<float> image, ivar;
  Array2D<std::uint32_t> mask;
};

/// Poisson deviate of the given mean (negative counts as 0): element `index` of the stream, a pure
/// function of both. Exact: inversion below a mean of 10, Hormann's PTRS rejection above.
[[nodiscard]] double poisson(double mean, const CounterRng& rng, std::uint64_t index) noexcept;

/// Poisson noise of the mean and Gaussian read noise. Every pixel draws from its own counter, so
/// the bytes do not depend on threads. Throws kUsage when the read noise is not positive.
[[nodiscard]] NoisyFrame add_noise(const Array2D<double>& mean_e, const NoiseOptions& options,
                                   Executor& executor);

/// The same container without noise: image = mean, ivar as add_noise would give.
[[nodiscard]] NoisyFrame without_noise(const Array2D<double>& mean_e, const NoiseOptions& options);

}  // namespace fiberloom
