// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/tod/shared_tod.hpp"

#include <algorithm>
#include <utility>

namespace skyloom {

std::vector<Share> share_of(const TodSource& source, std::size_t rank, std::size_t size) {
  double all = 0;
  for (std::size_t i = 0; i < source.observations(); ++i) {
    const Observation& at = source.observation(i);
    all += static_cast<double>(at.samples) * static_cast<double>(at.plane.detectors.size());
  }
  std::vector<Share> out;
  double before = 0;
  for (std::size_t i = 0; i < source.observations(); ++i) {
    const Observation& at = source.observation(i);
    const std::size_t detectors = at.plane.detectors.size();
    for (std::size_t d = 0; d < detectors; d += source.group()) {
      const std::size_t n = std::min(source.group(), detectors - d);
      const double samples = static_cast<double>(at.samples) * static_cast<double>(n);
      // a group belongs to the process in whose part of all samples its middle lies
      const double part = static_cast<double>(size) * (before + samples / 2) / all;
      before += samples;
      if (std::min(static_cast<std::size_t>(part), size - 1) != rank) continue;
      if (out.empty() || out.back().observation != i) out.push_back({i, d, d});
      out.back().end = d + n;
    }
  }
  return out;
}

SharedTod::SharedTod(const TodSource& source, std::vector<Share> shares)
    : source_(source), shares_(std::move(shares)) {
  for (const Share& share : shares_) {
    Observation part = source.observation(share.observation);
    std::vector<Detector>& detectors = part.plane.detectors;
    detectors = {detectors.begin() + static_cast<std::ptrdiff_t>(share.first),
                 detectors.begin() + static_cast<std::ptrdiff_t>(share.end)};
    observations_.push_back(std::move(part));
  }
}

}  // namespace skyloom
