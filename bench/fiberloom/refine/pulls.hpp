// SPDX-License-Identifier: BSD-3-Clause
// Noisy frames, and how far fluxes of them are from the truth, in their errors and in per cent.
#pragma once

#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "fiberloom/extract/extract.hpp"
#include "fiberloom/simulate/noise.hpp"
#include "fiberloom/spectrum/banded.hpp"

namespace fiberloom::bench {

/// Of (flux - R truth) / sigma, and of the difference itself relative to the truth.
struct Pulls {
  double n = 0, sum = 0, sum2 = 0, off = 0, light = 0;
  void add(double flux, double expected, double ivar) {
    const double pull = (flux - expected) * std::sqrt(ivar);
    n += 1;
    sum += pull;
    sum2 += pull * pull;
    off += flux - expected;
    light += expected;
  }
  void print() const {
    std::printf(" %+8.3f %7.3f %+9.3f %% |", sum / n, std::sqrt(sum2 / n), 100 * off / light);
  }
};

/// What a detector sees of it; weights of the truth.
inline CcdFrame noisy_frame(const Array2D<double>& mean, double readnoise_e, std::uint64_t seed,
                            Executor& executor) {
  NoiseOptions noise;
  noise.readnoise_e = readnoise_e;
  noise.seed = seed;
  NoisyFrame seen = add_noise(mean, noise, executor);
  CcdFrame ccd{PixelArray(std::move(seen.image)), PixelArray(std::move(seen.ivar))};
  ccd.readnoise.all_e = readnoise_e;
  return ccd;
}

/// use(fibre, flux, R truth, ivar) of the bins that have a result, without `edge` at each end;
/// truth_of(fibre): numbers of its bins.
template <class TruthOf, class Use>
void for_bins(const ExtractResult& result, std::size_t edge, const TruthOf& truth_of,
              const Use& use) {
  const std::size_t n = result.flux.cols();
  std::vector<double> expected(n);
  for (std::size_t f = 0; f < result.flux.rows(); ++f) {
    multiply(banded(result.resolution, f), truth_of(f), expected);
    for (std::size_t j = edge; j + edge < n; ++j) {
      if (result.ivar(f, j) > 0) use(f, result.flux(f, j), expected[j], result.ivar(f, j));
    }
  }
}

}  // namespace fiberloom::bench
