// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/simulate/small_frame.hpp"

#include <algorithm>
#include <cmath>

#include "fiberloom/simulate/project.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"
#include "loom/base/rng.hpp"

namespace fiberloom {
namespace {

constexpr std::uint64_t kLineCounter = 1000000;  // above every fibre's counter

/// Electrons per bin of one fibre.
void light(const SmallFrameOptions& o, SmallFrame& frame, std::size_t fiber) {
  const CounterRng rng(o.seed, rng_stream(Draw::kTargets));
  const std::size_t n = frame.lit_wave.size();
  double* const out = frame.electrons.row(fiber);
  std::fill(out, out + n, 0.0);
  if (o.light == LightPattern::kSpike) {
    out[frame.first_bin + o.nwave / 2] = o.line_e;
    return;
  }
  if (o.light == LightPattern::kFlat) {
    std::fill(out, out + n, o.continuum_e);
    return;
  }
  const auto own = rng.uniform2(fiber);
  const double height = o.continuum_e * (0.3 + 1.7 * own[0]);
  for (std::size_t j = 0; j < n; ++j) {
    const double phase = static_cast<double>(j) / 60.0 + 6.0 * own[1];
    out[j] = height * (1.0 + 0.3 * std::sin(phase));
    // A line about every 14 bins; its place is that of the sky, the same in all fibres.
    const auto line = rng.uniform2(kLineCounter + j);
    if (line[0] < 0.07) out[j] += o.line_e * std::pow(line[1], 6.0);
  }
}

}  // namespace

SmallFrame make_small_frame(const SmallFrameOptions& o, const PsfModel& psf, Executor& executor) {
  if (o.nwave < 1 || !(o.step_aa > 0)) {
    throw Error(Status::kUsage, "small frame: needs at least one bin of positive width");
  }
  SmallFrame frame;
  frame.psf = psf;
  frame.lit_wave = lit_wave_grid(psf, o.wave_first_aa, o.step_aa, o.step_aa);
  const auto first = std::lower_bound(frame.lit_wave.begin(), frame.lit_wave.end(),
                                      o.wave_first_aa - 0.5 * o.step_aa);
  frame.first_bin = static_cast<std::size_t>(first - frame.lit_wave.begin());
  if (frame.first_bin == 0 || frame.first_bin + o.nwave > frame.lit_wave.size()) {
    throw Error(kNotCovered, "small frame: the CCD does not cover the grid");
  }
  frame.wave.assign(first, first + static_cast<std::ptrdiff_t>(o.nwave));
  const auto nfiber = static_cast<std::size_t>(std::min(o.nfiber, psf.nfiber()));
  frame.electrons = Array2D<double>(nfiber, frame.lit_wave.size());
  for (std::size_t f = 0; f < nfiber; ++f) light(o, frame, f);
  frame.mean = project(psf, frame.lit_wave, frame.electrons, executor);

  NoiseOptions noise;
  noise.readnoise_e = o.readnoise_e;
  noise.seed = o.seed;
  const std::size_t rows = frame.mean.rows(), cols = frame.mean.cols();
  frame.image = frame.mean;
  frame.ivar = Array2D<double>(rows, cols);
  if (o.noise == FrameNoise::kPoissonAndRead) {
    const NoisyFrame noisy = add_noise(frame.mean, noise, executor);
    for (std::size_t i = 0; i < noisy.image.size(); ++i) {
      frame.image.data()[i] = noisy.image.data()[i];
    }
  }
  for (std::size_t i = 0; i < frame.mean.size(); ++i) {
    frame.ivar.data()[i] = 1.0 / (o.readnoise_e * o.readnoise_e + frame.mean.data()[i]);
  }
  return frame;
}

SmallFrame make_small_frame(const SmallFrameOptions& o, Executor& executor) {
  const double last = o.wave_first_aa + static_cast<double>(o.nwave) * o.step_aa;
  SimulatedPsfOptions options = small_psf_options(o.nfiber, o.wave_first_aa, last, o.margin_aa);
  options.crosstalk = o.crosstalk;
  options.gh_scale = o.gh_scale;
  options.seed = o.seed;
  return make_small_frame(o, make_psf(options), executor);
}

}  // namespace fiberloom
