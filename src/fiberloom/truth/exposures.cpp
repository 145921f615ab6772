// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/truth/exposures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "fiberloom/simulate/spectra.hpp"
#include "fiberloom/spectrum/banded.hpp"
#include "loom/base/error.hpp"
#include "loom/base/letter_case.hpp"
#include "loom/base/median.hpp"
#include "loom/base/rng.hpp"

namespace fiberloom::truth {
namespace {

/// Streams of a night: its fibres, and of each exposure its noise and its targets.
enum ExposureStream : std::uint64_t { kFibers = 1, kPixels = 2, kSpikes = 3, kTargets = 4 };
CounterRng stream(const ExposureOptions& o, std::size_t camera, std::uint64_t number,
                  std::uint64_t which) {
  return {o.seed, 0x4558000000000000ULL + 256 * number + 16 * camera + which};
}

double gaussian(double x) { return std::exp(-0.5 * x * x); }

/// 0 to 1 along a camera.
double along(const std::vector<double>& wave, std::size_t i) {
  return (wave[i] - wave.front()) / (wave.back() - wave.front());
}

Array2D<double> throughputs(const CameraModel& camera, std::size_t number,
                            const ExposureOptions& o) {
  const std::size_t n = camera.wave.size();
  const CounterRng rng = stream(o, number, 0, kFibers);
  Array2D<double> out(o.nspec, n);
  for (std::size_t f = 0; f < o.nspec; ++f) {
    const auto draw = rng.normal2(3 * f), shape = rng.normal2(3 * f + 1);
    const double phase = 6.3 * rng.uniform(3 * f + 2);
    for (std::size_t i = 0; i < n; ++i) {
      const double x = along(camera.wave, i);
      const double ripple = shape[0] * std::sin(6 * x + phase) + 0.5 * shape[1] * std::cos(40 * x);
      out(f, i) = std::max(0.3, 1 + o.throughput_rms * draw[0]) * (1 + o.ripple_rms * ripple);
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> column(o.nspec);
    for (std::size_t f = 0; f < o.nspec; ++f) column[f] = out(f, i);
    const double middle = median_of(column);
    for (std::size_t f = 0; f < o.nspec; ++f) out(f, i) /= middle;
  }
  return out;
}

std::vector<double> lamp_light(const std::vector<double>& wave) {
  constexpr double kBrightest = 1e4, kLine = 3e3, kWidth = 0.6;
  std::vector<double> out(wave.size());
  for (std::size_t i = 0; i < wave.size(); ++i) {
    const double x = along(wave, i);
    out[i] = kBrightest * (0.3 + 0.7 * std::sin(0.4 + 2.2 * x)) * (1 + 0.05 * std::sin(50 * x));
  }
  for (const double at : {0.13, 0.31, 0.52, 0.77}) {
    const double line = wave.front() + at * (wave.back() - wave.front());
    for (std::size_t i = 0; i < wave.size(); ++i) {
      out[i] += kLine * gaussian((wave[i] - line) / kWidth);
    }
  }
  return out;
}

struct Line {
  double wave_aa, depth, width_aa;
};
constexpr std::array<Line, 8> kBalmer{{{6564.6, 0.35, 5},
                                       {4862.7, 0.45, 6},
                                       {4341.7, 0.5, 6},
                                       {4102.9, 0.5, 6},
                                       {3971.2, 0.5, 6},
                                       {3890.2, 0.45, 5},
                                       {3836.5, 0.4, 5},
                                       {3799.0, 0.35, 4}}};

/// Electrons of a flux of 1 above the atmosphere, whose bands of narrow lines absorb.
std::vector<double> sharp_calibration(const CameraModel& camera) {
  struct Band {
    double first_aa, last_aa, depth;
  };
  constexpr std::array<Band, 4> kBands{
      {{6870, 6940, 0.4}, {7170, 7330, 0.15}, {7595, 7690, 0.6}, {9300, 9700, 0.3}}};
  constexpr double kSpacing = 6.7, kWidth = 0.5;
  std::vector<double> out = camera.counts;
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (const Band& b : kBands) {
      const double w = camera.wave[i];
      if (w < b.first_aa || w > b.last_aa) continue;
      const double off = std::remainder(w - b.first_aa, kSpacing);
      out[i] *= 1 - b.depth * gaussian(off / kWidth);
    }
  }
  return out;
}

/// An F star of this temperature with a flux of 1 at 6500 Angstrom.
double star_shape(double wave, double kelvin) {
  const auto planck = [&](double w) {
    return std::pow(w / 6500, -5) / std::expm1(1.4388e8 / (w * kelvin));
  };
  double out = planck(wave) / planck(6500);
  for (const Line& l : kBalmer) out *= 1 - l.depth * gaussian((wave - l.wave_aa) / l.width_aa);
  return out;
}

enum class Seen { kSky, kStar, kTarget };
Seen seen_by(std::size_t fiber, const ExposureOptions& o) {
  if (fiber % o.sky_every == o.sky_every / 2) return Seen::kSky;
  return fiber % o.star_every == 0 ? Seen::kStar : Seen::kTarget;
}

void add_flux(Exposure& out, const CounterRng& rng, const ExposureOptions& o) {
  const std::vector<double>& wave = out.spectra.wave;
  for (std::size_t f = 0; f < o.nspec; ++f) {
    const Seen what = seen_by(f, o);
    if (what == Seen::kSky) continue;
    const auto u = rng.uniform2(2 * f), v = rng.uniform2(2 * f + 1);
    constexpr double kOfMag17 = 42;  // 1e-17 erg/(s cm2 Angstrom) at 6500 Angstrom, AB
    const double mag = what == Seen::kStar ? 1.5 * u[0] : 3 + 3 * u[0];
    const double level = kOfMag17 * std::pow(10, -0.4 * mag);
    for (std::size_t i = 0; i < wave.size(); ++i) {
      const double shape = what == Seen::kStar
                               ? star_shape(wave[i], 5800 + 1200 * u[1])
                               : std::pow(wave[i] / 6500, 2 * u[1] - 1) +
                                     3 * gaussian((wave[i] - 3600 - 6200 * v[0]) / 1.5);
      out.flux(f, i) = level * shape;
    }
  }
}

/// Light of each bin from what is before R; then noise, ivar, defects.
class Observing {
 public:
  Observing(const CameraModel& camera, const ExposureOptions& o, Exposure& out)
      : camera_(camera), o_(o), out_(out), n_(camera.wave.size()) {}

  void expose(std::size_t f, const std::vector<double>& sharp_sky, const CounterRng& noise,
              const CounterRng& defects) {
    Spectra& s = out_.spectra;
    const Banded<const float> r = banded(std::as_const(s.resolution), f);
    std::vector<double> sharp(n_), seen(n_), sky(n_, 0.0);
    if (!sharp_sky.empty()) {
      multiply(r, std::span<const double>(sharp_sky), std::span<double>(sky));
    }
    for (std::size_t i = 0; i < n_; ++i) {
      sharp[i] = (out_.lamp.empty() ? out_.calibration[i] * out_.flux(f, i) : out_.lamp[i]);
    }
    multiply(r, std::span<const double>(sharp), std::span<double>(seen));
    for (std::size_t i = 0; i < n_; ++i) {
      const double through = out_.throughput(f, i);
      out_.sky(f, i) = through * sky[i];
      const double light = through * (seen[i] + sky[i]);
      const double variance = std::max(light, 0.0) + camera_.read_variance;
      double electrons = light + std::sqrt(variance) * noise.normal(f * n_ + i);
      out_.light(f, i) = light;
      const auto u = defects.uniform2(2 * (f * n_ + i));
      if (u[1] < o_.hot_pixels) electrons += 4000 * defects.uniform(2 * (f * n_ + i) + 1);
      const double shown = std::max(electrons, 0.0) + camera_.read_variance;
      s.flux(f, i) = electrons;
      s.ivar(f, i) = 1 / (o_.noise == KnownNoise::kData ? shown : variance);
      if (u[0] < o_.bad_pixels) s.ivar(f, i) = 0, s.mask(f, i) = kAllBadPix;
    }
  }

 private:
  const CameraModel& camera_;
  const ExposureOptions& o_;
  Exposure& out_;
  std::size_t n_;
};

Table fibermap(const ExposureOptions& o, bool field) {
  constexpr std::int64_t kFaintStandard = std::int64_t{1} << 33;  // of DESI_TARGET
  constexpr std::int64_t kFirstId = 39627000000000000;
  std::vector<std::string> kind;
  std::vector<std::int64_t> id, bits;
  std::vector<std::int32_t> fiber, status(o.nspec, 0);
  for (std::size_t f = 0; f < o.nspec; ++f) {
    const Seen what = seen_by(f, o);
    kind.emplace_back(field && what == Seen::kSky ? "SKY" : "TGT");
    id.push_back(kFirstId + static_cast<std::int64_t>(f));
    bits.push_back(field && what == Seen::kStar ? kFaintStandard : 0);
    fiber.push_back(static_cast<std::int32_t>(f));
  }
  Table map;
  map.add("TARGETID", std::span<const std::int64_t>(id));
  map.add("FIBER", std::span<const std::int32_t>(fiber));
  map.add("OBJTYPE", std::span<const std::string>(kind), 3);
  map.add("FIBERSTATUS", std::span<const std::int32_t>(status));
  map.add("DESI_TARGET", std::span<const std::int64_t>(bits));
  return map;
}

Exposure expose(const Spectrograph& spectrograph, std::size_t number, const ExposureOptions& o,
                std::uint64_t exposure, bool field, Executor& executor) {
  const CameraModel& camera = spectrograph.cameras().at(number);
  const std::size_t n = camera.wave.size();
  if (o.nspec == 0 || o.nspec > static_cast<std::size_t>(spectrograph.nfiber()) ||
      o.sky_every == 0 || o.star_every == 0) {
    throw Error(Status::kUsage,
                "simulated exposure: " + std::to_string(o.nspec) + " fibres, expected 1 to " +
                    std::to_string(spectrograph.nfiber()) + ", and sky and stars every 1 or more");
  }
  Exposure out;
  Spectra& s = out.spectra;
  s.wave = camera.wave;
  s.flux = s.ivar = Array2D<double>(o.nspec, n, 0.0);
  s.mask = Array2D<std::uint32_t>(o.nspec, n, 0U);
  s.resolution = Array3D<float>(o.nspec, kDiagonals, n);
  s.fibermap = fibermap(o, field);
  out.light = out.sky = out.flux = Array2D<double>(o.nspec, n, 0.0);
  out.throughput = throughputs(camera, number, o);
  out.calibration = sharp_calibration(camera);
  if (!field) out.lamp = lamp_light(camera.wave);
  if (field) add_flux(out, stream(o, 0, exposure, kTargets), o);  // the same for all cameras
  std::vector<double> sky;
  if (field) {
    const auto band = loom::small_letter(camera.name[0]);
    sky = sky_electrons(band, {camera.wave, camera.wave[1] - camera.wave[0]},
                        spectrograph.exptime_s());
  }
  Observing observing(camera, o, out);
  const CounterRng noise = stream(o, number, exposure, kPixels),
                   defects = stream(o, number, exposure, kSpikes);
  executor.run(o.nspec, [&](std::size_t f) {
    const Array2D<float> r = spectrograph.resolution(number, static_cast<int>(f));
    std::copy_n(r.data(), r.size(), &s.resolution(f, 0, 0));
    observing.expose(f, sky, noise, defects);
  });
  return out;
}

}  // namespace

Exposure lamp_exposure(const Spectrograph& spectrograph, std::size_t camera,
                       const ExposureOptions& options, std::uint64_t number, Executor& executor) {
  return expose(spectrograph, camera, options, number, false, executor);
}

Exposure field_exposure(const Spectrograph& spectrograph, std::size_t camera,
                        const ExposureOptions& options, std::uint64_t number, Executor& executor) {
  return expose(spectrograph, camera, options, number, true, executor);
}

}  // namespace fiberloom::truth
