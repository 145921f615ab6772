// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/tod/observation.hpp"

namespace skyloom {

NoisePsd TodSource::noise(std::size_t number, std::size_t detector) const {
  const Observation& of = observation(number);
  const Detector& at = of.plane.detectors[detector];
  return analytic_psd(at.noise, of.plane.rate_hz, at.name);
}

}  // namespace skyloom
