// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/truth/night.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "fiberloom/redshift/igm.hpp"
#include "fiberloom/simulate/streams.hpp"
#include "fiberloom/truth/draw.hpp"
#include "loom/base/error.hpp"
#include "loom/base/median.hpp"
#include "loom/base/rng.hpp"

namespace fiberloom::truth {
namespace {

using redshift::Template;

/// Streams of a night: targets of a tile and spectrograph, fibres of a camera, weather.
enum NightStream : std::uint64_t { kOfTarget = 1, kOfFibers = 2, kOfWeather = 3 };
CounterRng stream(const NightOptions& o, NightStream which, std::uint64_t number) {
  return {o.seed, 0x4e47000000000000ULL + 16 * number + which};
}

constexpr double kFirstAa = 3600, kLastAa = 9824;                     // that targets reach over
constexpr double kRedAa = 5760, kLastRedAa = 7620, kRedStepAa = 0.8;  // of magnitudes
constexpr double kUntrainedSpread = 0.2;
/// 1e-17 erg/(s cm2 Angstrom) at 6500 Angstrom of AB magnitude 17.
constexpr double kOfMag17 = 40.8;

double level_of(double mag) { return kOfMag17 * std::pow(10, -0.4 * (mag - 17)); }

double bell(double x) { return std::exp(-0.5 * x * x); }

double band_first(char band) { return band == 'b' ? 3600 : band == 'r' ? 5760 : 7520; }
double band_last(char band) { return band == 'b' ? 5800 : band == 'r' ? 7620 : 9824; }
/// 0 to 1 along a camera's grid, a little more beyond.
double along(char band, double wave) {
  return (wave - band_first(band)) / (band_last(band) - band_first(band));
}

std::size_t draw_class(const ClassMix& mix, double u) {
  const std::array<double, 3> share{mix.galaxy, mix.qso, mix.star};
  u *= share[0] + share[1] + share[2];
  std::size_t k = 0;
  while (k < 2 && u >= share[k]) u -= share[k++];
  return k;
}

/// Redshifts at which a template reaches over all cameras, within what surveys have of its class.
std::array<double, 2> redshift_range(const Template& t) {
  const bool quasar = t.spectype == "QSO";
  double low = quasar ? 0.3 : 0.03, high = quasar ? 3.5 : 1.4;
  low = std::max(low, kLastAa / t.wave.back() - 1);
  high = std::min(high, kFirstAa / t.wave.front() - 1);
  if (!t.redshifts.empty()) {
    low = std::max(low, t.redshifts.front());
    high = std::min(high, t.redshifts.back());
  }
  return {low, high};
}

void draw_target(const redshift::TemplateSet& templates, const NightOptions& o,
                 const CounterRng& rng, FieldTarget& out) {
  constexpr std::array kKinds{"GALAXY", "QSO", "STAR"};
  const char* const kind = kKinds[draw_class(o.mix, rng.uniform(0))];
  std::vector<std::size_t> of_kind;
  for (std::size_t t = 0; t < templates.size(); ++t) {
    if (templates[t].spectype == kind) of_kind.push_back(t);
  }
  if (of_kind.empty()) {
    throw Error(Status::kUsage, std::string("simulated night: no template of a ") + kind);
  }
  out.source = of_kind[static_cast<std::size_t>(rng.uniform(1) * double(of_kind.size()))];
  const Template& t = templates[out.source];
  out.truth.spectype = t.spectype;
  out.truth.subtype = t.subtype;
  out.truth.source = t.file.empty() ? t.version : t.file;
  if (t.spectype == "STAR") {
    constexpr double kWidthKms = 100;
    out.truth.z = kWidthKms * rng.normal(3) / redshift::kLightKms;
  } else {
    const auto [low, high] = redshift_range(t);
    if (!(high > low)) {
      throw Error(Status::kUsage, "simulated night: template " + t.full_type() +
                                      " does not reach from 3600 to 9824 Angstrom at any redshift");
    }
    out.truth.z = (1 + low) * std::pow((1 + high) / (1 + low), rng.uniform(2)) - 1;
  }
  out.truth.coefficients = draw_coefficients(t, kUntrainedSpread, rng);
  out.truth.mag_r = o.brightest_mag + (o.faintest_mag - o.brightest_mag) * rng.uniform(4);
}

/// The template at the target's redshift; at its ends its last value goes on.
class TemplateFlux {
 public:
  TemplateFlux(const Template& t, const TrueTarget& target) : t_(t), z_(target.z) {
    flux_.assign(t.wave.size(), 0.0);
    for (std::size_t a = 0; a < t.nbasis(); ++a) {
      for (std::size_t k = 0; k < flux_.size(); ++k) {
        flux_[k] += target.coefficients[a] * t.flux(a, k);
      }
    }
  }
  [[nodiscard]] double operator()(double wave) const {
    const double rest = wave / (1 + z_);
    if (rest <= t_.wave.front()) return flux_.front();
    if (rest >= t_.wave.back()) return flux_.back();
    const auto above = std::upper_bound(t_.wave.begin(), t_.wave.end(), rest);
    const auto k = static_cast<std::size_t>(above - t_.wave.begin());
    const double share = (rest - t_.wave[k - 1]) / (t_.wave[k] - t_.wave[k - 1]);
    return (1 - share) * flux_[k - 1] + share * flux_[k];
  }

 private:
  const Template& t_;
  double z_;
  std::vector<double> flux_;
};

/// Mean over the red camera is what the magnitude says.
template <class Flux>
double scale_for(const Flux& flux, double mag) {
  double sum = 0, flat = 0;
  for (double w = kRedAa; w < kLastRedAa; w += kRedStepAa) {
    sum += flux(w);
    flat += level_of(mag) * (6500 / w) * (6500 / w);
  }
  return sum > 0 ? flat / sum : 1;
}

void target_flux(const FieldTarget& target, const redshift::TemplateSet& templates,
                 const std::vector<double>& wave, double* out) {
  const Template& t = templates[target.source];
  const TemplateFlux flux(t, target.truth);
  const double scale = scale_for(flux, target.truth.mag_r);
  for (std::size_t i = 0; i < wave.size(); ++i) out[i] = scale * flux(wave[i]);
  if (t.igm == redshift::Igm::kNone) return;
  const redshift::IgmTable igm(t.igm, wave);
  const std::size_t absorbed = igm.absorbed(target.truth.z);
  for (std::size_t i = 0; i < absorbed; ++i) out[i] *= igm.transmission(i, target.truth.z);
}

void star_flux(const FieldTarget& target, const std::vector<double>& wave, double* out) {
  std::vector<double> rest(wave), red;
  for (double& w : rest) w /= 1 + target.truth.z;
  for (double w = kRedAa; w < kLastRedAa; w += kRedStepAa) red.push_back(w / (1 + target.truth.z));
  const std::vector<double> in_red = star_spectrum(red, target.star);
  std::size_t k = 0;
  const double scale = scale_for([&](double) { return in_red[k++]; }, target.truth.mag_r);
  const std::vector<double> flux = star_spectrum(rest, target.star);
  for (std::size_t i = 0; i < wave.size(); ++i) out[i] = scale * flux[i];
}

}  // namespace

Sees seen_by(std::size_t fiber) noexcept {
  constexpr std::size_t kSkyEvery = 8, kSkyAt = 3, kStarEvery = 12, kStarAt = 6;
  if (fiber % kSkyEvery == kSkyAt) return Sees::kSky;
  return fiber % kStarEvery == kStarAt ? Sees::kStandardStar : Sees::kTarget;
}

std::vector<FieldTarget> draw_field(const redshift::TemplateSet& templates, const NightOptions& o,
                                    int tile, int spectrograph) {
  constexpr std::int64_t kFirstId = 39628000000000000, kOfTile = 10000;
  std::vector<FieldTarget> out(o.nspec);
  for (std::size_t f = 0; f < o.nspec; ++f) {
    FieldTarget& target = out[f];
    const auto number = static_cast<std::uint64_t>(5000 * tile + 500 * spectrograph) + f;
    const CounterRng rng = stream(o, kOfTarget, number);
    target.sees = seen_by(f);
    target.truth.fiber = static_cast<int>(f) + 500 * spectrograph;
    const std::int64_t id = kFirstId + kOfTile * tile + target.truth.fiber;
    target.truth.id = target.sees == Sees::kSky ? -id : id;
    target.truth.spectype = "SKY";
    target.truth.mag_r = 99;
    if (target.sees == Sees::kTarget) draw_target(templates, o, rng, target);
    if (target.sees != Sees::kStandardStar) continue;
    const auto u = rng.uniform2(0), v = rng.uniform2(1);
    target.star = {5700 + 1200 * u[0], 3.6 + 0.8 * u[1], -1.9 + 1.3 * v[0]};
    target.truth.spectype = "STAR";
    target.truth.source = "starmodels";
    target.truth.z = 1e-4 * rng.normal(3);
    target.truth.mag_r = o.brightest_star + (o.faintest_star - o.brightest_star) * v[1];
  }
  return out;
}

Array2D<double> field_flux(const std::vector<FieldTarget>& targets,
                           const redshift::TemplateSet& templates, const std::vector<double>& wave,
                           Executor& executor) {
  Array2D<double> out(targets.size(), wave.size(), 0.0);
  executor.run(targets.size(), [&](std::size_t t) {
    if (targets[t].sees == Sees::kTarget) target_flux(targets[t], templates, wave, out.row(t));
    if (targets[t].sees == Sees::kStandardStar) star_flux(targets[t], wave, out.row(t));
  });
  return out;
}

Array2D<double> fiber_throughput(const NightOptions& o, char band, int spectrograph,
                                 const std::vector<double>& wave) {
  const CounterRng rng = stream(o, kOfFibers, camera_number(band, spectrograph));
  constexpr double kLeast = 0.3;
  Array2D<double> out(o.nspec, wave.size());
  for (std::size_t f = 0; f < o.nspec; ++f) {
    const auto draw = rng.normal2(3 * f), shape = rng.normal2(3 * f + 1);
    const double phase = 2 * std::numbers::pi * rng.uniform(3 * f + 2);
    const double height = std::max(kLeast, 1 + o.throughput_rms * draw[0]);
    for (std::size_t i = 0; i < wave.size(); ++i) {
      const double x = along(band, wave[i]);
      const double ripple = shape[0] * std::sin(6 * x + phase) + 0.5 * shape[1] * std::cos(40 * x);
      out(f, i) = height * (1 + o.ripple_rms * ripple);
    }
  }
  std::vector<double> column(o.nspec);
  for (std::size_t i = 0; i < wave.size(); ++i) {
    for (std::size_t f = 0; f < o.nspec; ++f) column[f] = out(f, i);
    const double middle = median_of(column);
    for (std::size_t f = 0; f < o.nspec; ++f) out(f, i) /= middle;
  }
  return out;
}

Conditions conditions(const NightOptions& o, std::int64_t expid) {
  const CounterRng rng = stream(o, kOfWeather, static_cast<std::uint64_t>(expid));
  const auto u = rng.uniform2(0);
  return {1 + 0.6 * u[0], 0.8 + 0.2 * u[1], 0.9 + 0.3 * rng.uniform(1)};
}

std::vector<double> electrons_of_flux(const NightOptions& o, char band, const BinGrid& grid,
                                      const Conditions& c) {
  /// Electrons per Angstrom in 900 s at 6500 Angstrom of a flux of 1, where a camera is at its
  /// best: a mirror of 3.8 m and a sixth of the photons.
  constexpr double kBest = 40, kReferenceTime = 900;
  struct Band {
    double first_aa, last_aa, depth;
  };
  constexpr std::array<Band, 4> kBands{
      {{6870, 6940, 0.4}, {7170, 7330, 0.15}, {7595, 7690, 0.6}, {9300, 9700, 0.3}}};
  constexpr double kSpacing = 6.7, kWidth = 0.5;
  std::vector<double> out;
  for (const double w : grid.wave) {
    const double extinction = 0.05 + 0.12 * std::pow(5500 / w, 4);  // magnitudes an airmass
    double counts = kBest * o.exptime_s / kReferenceTime * grid.step_aa * w / 6500 *
                    camera_efficiency(band, w) * c.transparency *
                    std::pow(10, -0.4 * extinction * c.airmass);
    for (const Band& b : kBands) {
      if (w < b.first_aa || w > b.last_aa) continue;
      counts *= 1 - b.depth * bell(std::remainder(w - b.first_aa, kSpacing) / kWidth);
    }
    out.push_back(counts);
  }
  return out;
}

std::vector<double> lamp_electrons(char band, const BinGrid& grid) {
  constexpr double kBrightest = 1e4 / 0.8, kLine = 3e3 / 0.8, kWidth = 0.6;
  std::vector<double> out;
  for (const double w : grid.wave) {
    const double x = along(band, w);
    double light = kBrightest * std::max(0.1, 0.3 + 0.7 * std::sin(0.4 + 2.2 * x)) *
                   (1 + 0.05 * std::sin(50 * x));
    for (const double at : {0.13, 0.31, 0.52, 0.77}) {
      const double line = band_first(band) + at * (band_last(band) - band_first(band));
      light += kLine * bell((w - line) / kWidth);
    }
    out.push_back(light * grid.step_aa);
  }
  return out;
}

double lamp_at(const NightOptions& o, int lamp, int lamps, double x, double y) {
  if (lamps < 2) return 1;
  const double angle = 2 * std::numbers::pi * lamp / lamps;
  return 1 + o.lamp_gradient * (x * std::cos(angle) + y * std::sin(angle));
}

std::vector<double> arc_electrons(const BinGrid& grid) {
  constexpr double kSpacing = 41.3, kElectrons = 2e4;
  std::vector<double> out(grid.wave.size(), 0.0);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double off = std::abs(std::remainder(grid.wave[i], kSpacing));
    if (off <= 0.5 * grid.step_aa) out[i] = kElectrons;
  }
  return out;
}

}  // namespace fiberloom::truth
