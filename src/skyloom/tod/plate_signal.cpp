// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/tod/plate_signal.hpp"

#include <cmath>

namespace skyloom {

void add_plate_signal(const PlateSignalOptions& options, StreamName name,
                      std::span<const double> angles, std::span<double> signal) {
  const std::size_t harmonics = options.amplitudes_k.size(), n = signal.size();
  name.component = kPlateComponent;
  std::vector<double> drifts(harmonics), own(3 * harmonics);
  fill_gaussian(name.key(), {0, 0}, drifts);
  name.observation = 0;  // the plate is the same in all of them
  fill_gaussian(name.key(), {0, 0}, own);
  std::vector<double> cosines(harmonics), sines(harmonics), shares(harmonics);
  for (std::size_t k = 0; k < harmonics; ++k) {
    const double phase = std::atan2(own[3 * k + 1], own[3 * k]);
    cosines[k] = options.amplitudes_k[k] * std::cos(phase);
    sines[k] = options.amplitudes_k[k] * std::sin(phase);
    shares[k] = 1 + options.spread * own[3 * k + 2];
  }
  for (std::size_t i = 0; i < n; ++i) {
    const double time = static_cast<double>(i) / static_cast<double>(n);
    const double c = std::cos(angles[i]), s = std::sin(angles[i]);
    double cosine = 1, sine = 0, sum = 0;
    for (std::size_t k = 0; k < harmonics; ++k) {
      const double turned = cosine * c - sine * s;
      sine = sine * c + cosine * s;
      cosine = turned;
      sum +=
          (shares[k] + options.drift * drifts[k] * time) * (cosines[k] * cosine + sines[k] * sine);
    }
    signal[i] += sum;
  }
}

}  // namespace skyloom
