// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/simulate_night_fibers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>

#include "fiberloom/calibrate/photometry.hpp"
#include "fiberloom/recipes/simulate_night_files.hpp"

namespace fiberloom::simulated_night {

using truth::FieldTarget;
using truth::Sees;

constexpr std::int32_t kBrokenFiber = 1 << 2;

bool is_broken(const SimulateNightJob& job, std::size_t fiber) {
  constexpr std::size_t kEvery = 40, kAt = 17;
  return job.defects == WithDefects::kYes && fiber % kEvery == kAt;
}

std::vector<Target> fibers_of(const SimulateNightJob& job, const std::vector<FieldTarget>& targets,
                              int tile, int spectrograph) {
  constexpr double kOfFlux = 40, kBetweenTiles = 4;  // electrons a unit of flux; degrees
  std::vector<Target> out = make_targets(job.nspec, spectrograph, job.seed);
  for (std::size_t f = 0; f < out.size(); ++f) {
    const FieldTarget& target = targets[f];
    out[f].targetid = target.truth.id;
    out[f].kind = target.sees == Sees::kSky            ? TargetClass::kSky
                  : target.sees == Sees::kStandardStar ? TargetClass::kStandardStar
                                                       : TargetClass::kElg;
    out[f].desi_target = target.sees == Sees::kSky            ? std::int64_t{1} << 32
                         : target.sees == Sees::kStandardStar ? std::int64_t{1} << 33
                                                              : std::int64_t{1};
    out[f].ra_deg += kBetweenTiles * tile;
    out[f].fiber_ra_deg += kBetweenTiles * tile;
    if (target.sees != Sees::kStandardStar) continue;
    out[f].brightness = kOfFlux * 40.8 * std::pow(10, -0.4 * (target.truth.mag_r - 17));
    out[f].temperature_k = target.star.teff;
  }
  return out;
}

Table fibermap_of(const SimulateNightJob& job, const std::vector<Target>& fibers) {
  Table table = to_table(make_fibermap(fibers, fibers.size(), TruthColumns::kNo));
  std::vector<double> x, y;
  std::vector<std::int32_t> status;
  for (std::size_t f = 0; f < fibers.size(); ++f) {
    x.push_back(fibers[f].fiber_x_mm), y.push_back(fibers[f].fiber_y_mm);
    status.push_back(is_broken(job, f) ? kBrokenFiber : 0);
  }
  table.drop("FIBERSTATUS").add("FIBERSTATUS", std::span<const std::int32_t>(status));
  table.add("FIBERASSIGN_X", x, "mm").add("FIBERASSIGN_Y", y, "mm");
  const std::vector<std::int64_t> none(fibers.size(), 0);  // desispec asks all surveys for stars
  table.add("BGS_TARGET", std::span<const std::int64_t>(none));
  table.add("MWS_TARGET", std::span<const std::int64_t>(none));
  return table;
}

void add_photometry(const Array2D<double>& flux, const std::vector<double>& wave, double ebv,
                    Table& fibermap) {
  const std::array<const char*, 3> names{"FLUX_G", "FLUX_R", "FLUX_Z"};
  for (std::size_t b = 0; b < names.size(); ++b) {
    const calibrate::BandIntegral band(wave, passband(b));
    std::vector<float> values;
    for (std::size_t t = 0; t < flux.rows(); ++t) {
      const double mag = band.magnitude(flux.row(t));
      values.push_back(std::isfinite(mag) ? static_cast<float>(std::pow(10, 0.4 * (22.5 - mag)))
                                          : 0.0F);
    }
    fibermap.add(names[b], std::span<const float>(values), "nanomaggy");
  }
  const std::vector<float> dust(flux.rows(), static_cast<float>(ebv));
  const std::vector<std::string> south(flux.rows(), "S");
  fibermap.add("EBV", std::span<const float>(dust), "mag");
  fibermap.add("PHOTSYS", std::span<const std::string>(south), 1);
}

}  // namespace fiberloom::simulated_night
