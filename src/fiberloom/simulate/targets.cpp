// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/simulate/targets.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "fiberloom/foundation.hpp"
#include "fiberloom/simulate/streams.hpp"
#include "loom/base/error.hpp"
#include "loom/base/rng.hpp"

namespace fiberloom {
namespace {

constexpr int kBlock = 25;
constexpr double kFieldRa = 150.1, kFieldDec = 2.2;  // centre of the field, degrees
constexpr std::uint64_t kCounters = 16;              // counters of a fibre

/// Sky and standard fibres of a block of 25, by rank of a random number of each fibre.
TargetClass special_class(int fiber, int spectrograph, const CounterRng& rng) {
  const int block = fiber / kBlock;
  const auto draw = [&](int f) {
    return rng.uniform(kCounters * static_cast<std::uint64_t>(500 * spectrograph + f));
  };
  int rank = 0;
  for (int f = block * kBlock; f < (block + 1) * kBlock; ++f) rank += draw(f) < draw(fiber) ? 1 : 0;
  if (rank < 2) return TargetClass::kSky;
  if (rank == 2 && block % 2 == 0) return TargetClass::kStandardStar;
  return TargetClass::kElg;
}

void describe_galaxy(Target& t, const CounterRng& rng, std::uint64_t base) {
  const auto u = rng.uniform2(base + 2), v = rng.uniform2(base + 3), w = rng.uniform2(base + 4);
  if (u[0] < 0.45) {
    t.kind = TargetClass::kElg;
    t.redshift = 0.05 + 1.5 * u[1];
    t.brightness = 4.0 * std::pow(5.0, v[0]);
    t.line_strength = 250.0 * std::pow(12.0, v[1]);
    t.dispersion_kms = 40.0 + 60.0 * w[0];
    t.desi_target = std::int64_t{1} << 1;
  } else if (u[0] < 0.75) {
    t.kind = TargetClass::kLrg;
    t.redshift = 0.3 + 0.7 * u[1];
    t.brightness = 10.0 * std::pow(6.0, v[0]);
    t.line_strength = 0;
    t.dispersion_kms = 180.0 + 100.0 * w[0];
    t.desi_target = 1;
  } else {
    t.kind = TargetClass::kBgs;
    t.redshift = 0.02 + 0.4 * u[1];
    t.brightness = 30.0 * std::pow(10.0, v[0]);
    t.line_strength = 300.0 * std::pow(20.0, v[1]);
    t.dispersion_kms = 80.0 + 100.0 * w[0];
    t.desi_target = std::int64_t{1} << 60;
  }
}

/// The fibre that reached for the target: 70 micrometres are an arcsecond, and positioners stop
/// within some 5 micrometres. (Random numbers of their own: spectra are as they were.)
void place_fiber(Target& t, const std::array<double, 2>& u) {
  constexpr double kMmPerDegree = 0.07 * 3600, kScatterMm = 0.005;
  const double radius = kScatterMm * std::sqrt(-2 * std::log(1 - u[0]));
  const double cos_dec = std::cos(t.dec_deg * std::numbers::pi / 180.0);
  t.delta_x_mm = radius * std::cos(2 * std::numbers::pi * u[1]);
  t.delta_y_mm = radius * std::sin(2 * std::numbers::pi * u[1]);
  // x grows to the west, as one looks at the sky from behind
  t.fiber_ra_deg = t.ra_deg + t.delta_x_mm / kMmPerDegree / cos_dec;
  t.fiber_dec_deg = t.dec_deg - t.delta_y_mm / kMmPerDegree;
  t.fiber_x_mm = -(t.fiber_ra_deg - kFieldRa) * cos_dec * kMmPerDegree;
  t.fiber_y_mm = (t.fiber_dec_deg - kFieldDec) * kMmPerDegree;
}

}  // namespace

std::string_view target_class_name(TargetClass c) noexcept {
  switch (c) {
    case TargetClass::kSky:
      return "SKY";
    case TargetClass::kStandardStar:
      return "STAR";
    case TargetClass::kElg:
      return "ELG";
    case TargetClass::kLrg:
      return "LRG";
    case TargetClass::kBgs:
      return "BGS";
  }
  return "";
}

std::vector<Target> make_targets(int nfiber, int spectrograph, std::uint64_t seed) {
  if (nfiber < 0) throw Error(Status::kUsage, "simulate: a negative number of fibres");
  const CounterRng rng(seed, rng_stream(Draw::kTargets));
  std::vector<Target> targets(static_cast<std::size_t>(nfiber));
  for (int f = 0; f < nfiber; ++f) {
    Target& t = targets[static_cast<std::size_t>(f)];
    t.fiber = 500 * spectrograph + f;
    const std::uint64_t base = kCounters * static_cast<std::uint64_t>(t.fiber);
    const auto place = rng.uniform2(base + 1), v = rng.uniform2(base + 3);
    const double radius = 1.6 * std::sqrt(place[0]), angle = 2 * std::numbers::pi * place[1];
    t.dec_deg = kFieldDec + radius * std::sin(angle);
    t.ra_deg = kFieldRa + radius * std::cos(angle) / std::cos(t.dec_deg * std::numbers::pi / 180.0);
    place_fiber(t, rng.uniform2(base + 5));
    const auto number = static_cast<std::int64_t>(seed % 100000) * 100000 + t.fiber + 1;
    t.targetid = 39600000000000000 + number;
    t.kind = special_class(f, spectrograph, rng);
    if (t.kind == TargetClass::kSky) {
      t.targetid = -number;
      t.desi_target = std::int64_t{1} << 32;
    } else if (t.kind == TargetClass::kStandardStar) {
      t.redshift = (v[0] - 0.5) * 6e-4;
      t.brightness = 800.0 * std::pow(5.0, v[1]);
      t.temperature_k = 5800.0 + 1500.0 * v[0];
      t.desi_target = std::int64_t{1} << 33;
    } else {
      describe_galaxy(t, rng, base);
    }
  }
  return targets;
}

}  // namespace fiberloom
