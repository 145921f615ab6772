// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/tod/ground_signal.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "skyloom/pointing/expand.hpp"

namespace skyloom {
namespace {

constexpr std::size_t kGroundChunk = 4096;  // samples whose pointing is at hand
constexpr double kLeastCosine = 1e-12;      // nearer to the zenith there is no azimuth

}  // namespace

GroundSignal::GroundSignal(const GroundOptions& options, StreamName name) : options_(options) {
  name.component = kGroundComponent;
  name.observation = name.detector = 0;
  std::vector<double> drawn(options.rms_k > 0 ? 2 * options.harmonics : 0);
  fill_gaussian(name.key(), {0, 0}, drawn);
  double squares = 0;
  for (const double x : drawn) squares += x * x / 2;
  for (std::size_t m = 0; 2 * m < drawn.size(); ++m) {
    cosines_.push_back(options.rms_k * drawn[2 * m] / std::sqrt(squares));
    sines_.push_back(options.rms_k * drawn[2 * m + 1] / std::sqrt(squares));
  }
}

void GroundSignal::add(const Detector& detector, const Boresight& horizon,
                       std::span<double> signal) const {
  for (std::size_t i = 0; i < signal.size() && !cosines_.empty(); ++i) {
    const Direction look = rotated(quaternion_at(horizon, i) * detector.place, {0, 0, 1});
    const double flat = std::max(std::hypot(look.x, look.y), kLeastCosine);
    const double c = look.x / flat, s = -look.y / flat;  // of the azimuth, from north by east
    double sum = 0, cm = 1, sm = 0;
    for (std::size_t m = 0; m < cosines_.size(); ++m) {
      const double turned = cm * c - sm * s;
      sm = sm * c + cm * s;
      cm = turned;
      sum += cosines_[m] * cm + sines_[m] * sm;
    }
    const double elevation = std::atan2(look.z, flat) / (std::numbers::pi / 2);
    signal[i] += sum / (std::fabs(elevation) + 0.5);
  }
  if (!options_.map) return;
  std::vector<Pixel> pixels(kGroundChunk);
  std::vector<double> q(kGroundChunk), u(kGroundChunk);
  for (std::size_t first = 0; first < signal.size(); first += kGroundChunk) {
    const std::size_t n = std::min(kGroundChunk, signal.size() - first);
    const Pointing pointing{{pixels.data(), n}, {q.data(), n}, {u.data(), n}};
    expand_pointing(horizon, first, detector, options_.map->pixels, pointing);
    scan_sky(*options_.map, pointing.pixels, pointing.q, pointing.u, signal.subspan(first, n));
  }
}

Boresight horizon_boresight(const GroundScan& scan, const GroundMotion& motion,
                            const Boresight& boresight) {
  const std::size_t n = motion.azimuth.size();
  Boresight out(boresight.rows(), n);
  for (std::size_t row = kBoresightRows; row < boresight.rows(); ++row) {  // a plate's
    std::copy(boresight.row(row), boresight.row(row) + n, out.row(row));
  }
  for (std::size_t i = 0; i < n; ++i) {
    set_quaternion(
        out, i, mount_quaternion(motion.azimuth[i], motion.elevation[i], scan.boresight_angle_deg));
  }
  return out;
}

}  // namespace skyloom
