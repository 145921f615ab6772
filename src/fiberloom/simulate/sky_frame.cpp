// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/simulate/sky_frame.hpp"

#include <algorithm>
#include <cmath>

#include "fiberloom/simulate/project.hpp"
#include "fiberloom/simulate/sky_lines.hpp"

namespace fiberloom {

NoisyFrame make_sky_frame(const PsfModel& psf, const SkyFrameOptions& o, Executor& executor) {
  constexpr double kStep = 0.4;
  const double middle = 0.5 * (psf.x.wave_min + psf.x.wave_max);
  const std::vector<double> wave = lit_wave_grid(psf, middle, kStep, kStep);
  const auto nfiber = static_cast<std::size_t>(psf.nfiber());
  Array2D<double> continua(nfiber, wave.size());
  for (std::size_t f = 0; f < nfiber; ++f) {
    const double height =
        o.faintest_e * std::pow(o.brightest_e / o.faintest_e, static_cast<double>(f % 7) / 6);
    for (std::size_t j = 0; j < wave.size(); ++j)
      continua(f, j) = kStep * height * (1 + 0.3 * std::sin(wave[j] / 40 + static_cast<double>(f)));
  }
  std::vector<double> lines;
  std::vector<double> strength;
  for (const SkyLine& line : night_sky_lines()) {
    if (line.wave_aa < wave.front() || line.wave_aa > wave.back()) continue;
    if (!lines.empty() && line.wave_aa <= lines.back()) {
      strength.back() += line.strength;
      continue;
    }
    lines.push_back(line.wave_aa);
    strength.push_back(line.strength);
  }
  Array2D<double> light = project(psf, wave, continua, executor);
  if (!lines.empty()) {
    const double brightest = *std::max_element(strength.begin(), strength.end());
    Array2D<double> electrons(nfiber, lines.size());
    for (std::size_t f = 0; f < nfiber; ++f) {
      for (std::size_t l = 0; l < lines.size(); ++l)
        electrons(f, l) = o.line_e * strength[l] / brightest;
    }
    const Array2D<double> shining = project(psf, lines, electrons, executor);
    for (std::size_t i = 0; i < light.size(); ++i) light.data()[i] += shining.data()[i];
  }
  NoiseOptions noise;
  noise.readnoise_e = o.readnoise_e;
  noise.seed = o.seed;
  return add_noise(light, noise, executor);
}

}  // namespace fiberloom
