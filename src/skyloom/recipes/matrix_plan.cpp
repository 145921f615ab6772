// SPDX-License-Identifier: BSD-3-Clause
// How much memory an observation matrix takes, by where the detectors look.
#include <algorithm>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/runtime/memory_limit.hpp"
#include "skyloom/recipes/obs_matrix.hpp"

namespace skyloom {
namespace {

constexpr double kPixel = 2 * (4 + 48) + 2 * 8;  // of a stream, and its place among all of them
constexpr double kSeen = 4 + 2 * 8 + 2 * 4;      // of a factor's pixel, the index of factors too
constexpr double kEntry = 8 + 4, kWideEntry = kEntry + 8;

void make_unique(std::vector<Pixel>& pixels) {
  std::sort(pixels.begin(), pixels.end());
  pixels.erase(std::unique(pixels.begin(), pixels.end()), pixels.end());
}

double factor_bytes(std::size_t pixels, std::size_t rank) {
  return static_cast<double>(PixelFactor::blocks_of(pixels) * kTemplateBlock * rank) * 8 +
         static_cast<double>(pixels) * kSeen;
}

double squared(std::size_t pixels) {
  const double n = 3 * static_cast<double>(pixels);
  return n * n;
}

/// Pixels of a detector in each stretch.
class Looks {
 public:
  Looks(const Observation& observation, const Boresight& boresight, const SkyGrid& grid)
      : boresight_(boresight), grid_(grid) {
    stretches_ = observation.stretches;
    if (stretches_.empty()) stretches_ = {{0, observation.samples}};
  }
  [[nodiscard]] std::vector<std::vector<Pixel>> of(const Detector& detector) {
    std::vector<std::vector<Pixel>> out;
    for (const Stretch& stretch : stretches_) {
      std::vector<Pixel>& here = out.emplace_back();
      pointing_.over(boresight_, detector, grid_, stretch.first, stretch.end,
                     [&](std::size_t /*first*/, const Pointing& at) {
                       for (const Pixel pixel : at.pixels) {
                         if (here.empty() || here.back() != pixel) here.push_back(pixel);
                       }
                     });
      make_unique(here);
    }
    return out;
  }

 private:
  const Boresight& boresight_;
  const SkyGrid& grid_;
  SamplePointing pointing_;
  std::vector<Stretch> stretches_;
};

}  // namespace

MatrixPlan plan_matrix(const TodSource& source, const MapJob& job) {
  MatrixPlan out;
  if (job.obs_matrix.empty()) return out;
  const SkyGrid grid = grid_of(job);
  const std::size_t own = job.filters.polynomial ? *job.filters.polynomial + 1 : 0;
  const std::size_t given = job.deproject_templates();
  double entries = 0, most = 0;
  std::vector<Pixel> hit;
  for (std::size_t i = 0; i < source.observations(); ++i) {
    const Observation& observation = source.observation(i);
    const Boresight boresight = source.boresight(i);
    const auto moved = source.motion(i);
    const JointWishes wishes = job.filters.together(observation.plane.rate_hz);
    const std::size_t shared =
        given + most_shared(wishes, moved ? moved->azimuth : std::span<const double>());
    Looks looks(observation, boresight, grid);
    for (const Detector& detector : observation.plane.detectors) {
      std::vector<Pixel> pixels;
      for (const std::vector<Pixel>& here : looks.of(detector)) {
        out.streams += factor_bytes(here.size(), own);
        if (shared == 0) entries += squared(here.size());
        pixels.insert(pixels.end(), here.begin(), here.end());
      }
      make_unique(pixels);
      if (shared > 0) entries += squared(pixels.size());
      const auto n = static_cast<double>(pixels.size());
      out.streams += factor_bytes(pixels.size(), shared) + n * kPixel;
      most = std::max(most, 20 * static_cast<double>(observation.samples) +
                                3 * n * 8 * 2 * static_cast<double>(shared + own));
      hit.insert(hit.end(), pixels.begin(), pixels.end());
      make_unique(hit);
    }
  }
  entries = std::min(entries, squared(hit.size()));
  const double rows =
      3 * (grid.wcs() != nullptr ? static_cast<double>(grid.wcs()->columns * grid.wcs()->rows)
                                 : static_cast<double>(grid.healpix().pixels()));
  out.matrix = rows * (8 + 4) + entries * (entries > 2147483647.0 ? kWideEntry : kEntry);
  out.work = most + 3 * 3 * 8 * static_cast<double>(hit.size());
  return out;
}

void check_matrix_fits(const MatrixPlan& plan, std::size_t threads) {
  if (!(plan.matrix > 0)) return;
  const auto grant = memory_left(find_memory_limits(process_environment()));
  const double wanted = plan.streams + plan.matrix + static_cast<double>(threads) * plan.work;
  if (!grant || wanted <= static_cast<double>(grant->bytes)) return;
  throw Error(Status::kMemory, print("--obs-matrix takes up to %s, %s are %s",
                                     gigabytes(static_cast<std::uint64_t>(wanted)).c_str(),
                                     gigabytes(grant->bytes).c_str(), grant->by));
}

}  // namespace skyloom
