// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/truth/survey.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include "fiberloom/redshift/fitter.hpp"
#include "fiberloom/redshift/prepare.hpp"
#include "fiberloom/truth/draw.hpp"
#include "loom/base/error.hpp"
#include "loom/base/median.hpp"
#include "loom/base/rng.hpp"

namespace fiberloom::truth {
namespace {

using redshift::Fitter;
using redshift::Template;

constexpr std::uint32_t kBadPixel = kAllBadPix;

/// Streams of a target: what is drawn of it, and the noise of each camera.
enum Stream : std::uint64_t { kWhat = 1, kNoise = 2, kDefects = 6 };
CounterRng stream(const SurveyOptions& options, std::size_t target, std::uint64_t which) {
  return {options.seed, 0x5452000000000000ULL + 16 * target + which};
}

/// Spectra without light that carry each target's resolution; and what is drawn from, ready to be
/// put on their pixels.
class Light {
 public:
  Light(const redshift::TargetSet& set, const Sources& sources) {
    const redshift::ScanKernels& kernels = redshift::scan_kernels(loom::active_isa());
    if (sources.templates != nullptr) {
      for (const Template& t : *sources.templates) add(set, t, kernels);
    }
    constexpr std::size_t kGroup = 8;
    for (const redshift::Archetypes& a : sources.archetypes) {
      for (std::size_t first = 0; first < a.flux.rows(); first += kGroup) {
        Template& t = groups_.emplace_back();
        t.spectype = a.spectype;
        t.subtype = "ARCH";
        t.file = a.file;
        t.igm = a.spectype == "STAR" ? redshift::Igm::kNone : redshift::Igm::kInoue14;
        t.wave = a.wave;
        t.flux = Array2D<double>(std::min(kGroup, a.flux.rows() - first), a.wave.size());
        std::copy(a.flux.row(first), a.flux.row(first) + t.flux.size(), t.flux.data());
        t.training = Array2D<double>(t.nbasis(), t.nbasis(), 0.0);
        for (std::size_t k = 0; k < t.nbasis(); ++k) t.training(k, k) = 1;
        add(set, t, kernels);
      }
    }
  }
  [[nodiscard]] const std::deque<Fitter>& of(std::size_t kind) const { return fitters_[kind]; }

 private:
  void add(const redshift::TargetSet& set, const Template& t,
           const redshift::ScanKernels& kernels) {
    constexpr std::array kKinds{"GALAXY", "QSO", "STAR"};
    for (std::size_t k = 0; k < kKinds.size(); ++k) {
      if (t.spectype == kKinds[k]) fitters_[k].emplace_back(set, t, kernels);
    }
  }
  std::deque<Template> groups_;
  std::array<std::deque<Fitter>, 3> fitters_;
};

/// 0 galaxy, 1 quasar, 2 star, 3 sky.
std::size_t draw_kind(const ClassMix& mix, const Light& light, double u) {
  std::array<double, 4> share{mix.galaxy, mix.qso, mix.star, mix.sky};
  double total = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    if (k < 3 && light.of(k).empty()) share[k] = 0;
    total += share[k];
  }
  if (!(total > 0)) throw Error(Status::kUsage, "simulated targets: no template to draw from");
  u *= total;
  std::size_t k = 0;
  while (k < 3 && (u >= share[k] || share[k] == 0)) u -= share[k++];
  return k;
}

/// Lowest and highest redshift at which the template reaches over all cameras, within [low, high].
std::array<double, 2> reach(const Fitter& fitter, double low, double high) {
  const auto end = [&](double good, double bad) {  // `good` is covered, or nothing is
    if (fitter.sampler().covers(bad)) return bad;
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (good + bad);
      (fitter.sampler().covers(middle) ? good : bad) = middle;
    }
    return good;
  };
  double inside = 0.5 * (low + high);
  for (int i = 1; i < 64 && !fitter.sampler().covers(inside); ++i) {
    inside = low + (high - low) * i / 64;
  }
  return {end(inside, low), end(inside, high)};
}

double draw_z(const Fitter& fitter, std::size_t kind, const SurveyOptions& o, double u,
              double normal) {
  if (kind == 2) return o.star_kms * normal / redshift::kLightKms;
  const bool galaxy = kind == 0;
  double low = galaxy ? o.galaxy_z_low : o.qso_z_low,
         high = galaxy ? o.galaxy_z_high : o.qso_z_high;
  if (!fitter.source().redshifts.empty()) {
    low = std::max(low, fitter.source().redshifts.front());
    high = std::min(high, fitter.source().redshifts.back());
  }
  const auto [first, last] = reach(fitter, low, std::max(low, high));
  return (1 + first) * std::pow((1 + last) / (1 + first), u) - 1;
}

using Models = std::vector<std::vector<double>>;  ///< [camera][pixel]

double variance_at(const CameraModel& camera, std::size_t i, double flux) {
  return camera.sky[i] + camera.read_variance + std::max(flux, 0.0) * camera.counts[i];
}

/// Median S/N of `scale` times the models; at least half their mean, so that a spectrum of lines
/// alone does not become infinitely bright.
double snr_of(const Spectrograph& spectrograph, const Models& models, double scale) {
  std::vector<double> values;
  double mean = 0;
  for (std::size_t c = 0; c < models.size(); ++c) {
    const CameraModel& camera = spectrograph.cameras()[c];
    for (std::size_t i = 0; i < models[c].size(); ++i) {
      const double flux = scale * models[c][i];
      values.push_back(flux * camera.counts[i] / std::sqrt(variance_at(camera, i, flux)));
      mean += values.back();
    }
  }
  mean /= static_cast<double>(values.size());
  return std::max(upper_median(values), 0.5 * mean);
}

/// S/N grows between the root of the scale and the scale itself: a few steps close in on it.
double scale_for(const Spectrograph& spectrograph, const Models& models, double snr) {
  double scale = 1;
  for (int i = 0; i < 12; ++i) {
    const double now = snr_of(spectrograph, models, scale);
    if (!(now > 0)) return scale;
    scale *= snr / now;
  }
  return scale;
}

double magnitude_r(const Spectrograph& spectrograph, const Models& models, double scale) {
  const CameraModel& camera = spectrograph.cameras()[1];
  double light = 0, flat = 0;  // photons of the target, and of 3631 Jy
  for (std::size_t i = 0; i < camera.wave.size(); ++i) {
    const double w = camera.wave[i];
    if (w < 5700 || w > 7500) continue;
    light += 1e-17 * scale * models[1][i] * w;
    flat += 0.10885 / (w * w) * w;  // 3631e-23 c / wave^2, erg/(s cm2 Angstrom)
  }
  return light > 0 ? -2.5 * std::log10(light / flat) : 99;
}

/// What is drawn of one target but for its noise.
struct Drawn {
  TrueTarget truth;
  Models models;  ///< scaled
};

Drawn draw(const Spectrograph& spectrograph, const Light& light, const Sources& sources,
           const redshift::PreparedTarget& blank, const SurveyOptions& o, std::size_t target) {
  const CounterRng rng = stream(o, target, kWhat);
  Drawn out;
  out.truth.id = static_cast<std::int64_t>(target) + 1;
  const std::size_t kind = draw_kind(o.mix, light, rng.uniform(0));
  for (const redshift::Block& b : blank.blocks) {
    out.models.emplace_back(b.pixels, 0.0);
  }
  if (kind == 3) {
    out.truth.spectype = "SKY";
    out.truth.mag_r = 99;
    return out;
  }
  const auto& all = light.of(kind);
  const Fitter& fitter =
      all[static_cast<std::size_t>(rng.uniform(1) * static_cast<double>(all.size()))];
  const Template& t = fitter.source();
  out.truth.spectype = t.spectype;
  out.truth.subtype = t.subtype;
  out.truth.source = t.file.empty() ? t.version : t.file;
  out.truth.z = draw_z(fitter, kind, o, rng.uniform(2), rng.normal(3));
  out.truth.snr = o.least_snr * std::pow(o.most_snr / o.least_snr, rng.uniform(4));
  out.truth.coefficients = draw_coefficients(t, sources.untrained_spread, rng);
  for (std::size_t c = 0; c < out.models.size(); ++c) {
    out.models[c] = fitter.model(blank.blocks[c], out.truth.z, out.truth.coefficients);
  }
  const double scale = scale_for(spectrograph, out.models, out.truth.snr);
  out.truth.mag_r = magnitude_r(spectrograph, out.models, scale);
  for (double& c : out.truth.coefficients) c *= scale;
  for (auto& model : out.models) {
    for (double& f : model) f *= scale;
  }
  return out;
}

/// Noise, what sky subtraction left, bad and hot pixels of one camera.
void observe(const CameraModel& camera, const SurveyOptions& o, std::size_t target, std::size_t c,
             std::span<const double> model, std::size_t row, Spectra& out) {
  const CounterRng noise = stream(o, target, kNoise + c), defects = stream(o, target, kDefects + c);
  const double level = o.sky_residual * defects.normal(0);
  const double shift = o.sky_shift_aa * defects.normal(1);
  for (std::size_t i = 0; i < model.size(); ++i) {
    const double variance = variance_at(camera, i, model[i]);
    const double sky = camera.sky[i] - (1 - o.sky_continuum) * camera.sky_continuum[i];
    const double residual = level * sky + shift * camera.sky_slope[i];
    const double electrons = std::sqrt(variance) * noise.normal(i) + residual;
    out.flux(row, i) = model[i] + electrons / camera.counts[i];
    out.ivar(row, i) = camera.counts[i] * camera.counts[i] / variance;
    if (defects.uniform(1000 + i) < o.bad_pixels) {
      out.ivar(row, i) = 0;
      out.mask(row, i) = kBadPixel;
    }
  }
  if (defects.uniform(2) < o.hot_pixels / 3) {
    const auto at =
        static_cast<std::size_t>(defects.uniform(3) * static_cast<double>(model.size()));
    const double sigma = std::sqrt(variance_at(camera, at, model[at])) / camera.counts[at];
    out.flux(row, at) += 8 * std::pow(10.0, defects.uniform(4)) * sigma;
  }
}

/// Spectra without light that carry the resolution of `count` targets.
std::vector<Spectra> blank_spectra(const Spectrograph& spectrograph, std::size_t first,
                                   std::size_t count, Executor& executor) {
  std::vector<Spectra> out;
  for (const CameraModel& camera : spectrograph.cameras()) {
    const std::size_t n = camera.wave.size();
    Spectra s;
    s.wave = camera.wave;
    s.flux = Array2D<double>(count, n, 0.0);
    s.ivar = Array2D<double>(count, n, 1.0);
    s.mask = Array2D<std::uint32_t>(count, n, 0U);
    s.resolution = Array3D<float>(count, kDiagonals, n);
    out.push_back(std::move(s));
  }
  const auto fibers = static_cast<std::size_t>(spectrograph.nfiber());
  executor.run(count, [&](std::size_t t) {
    for (std::size_t c = 0; c < out.size(); ++c) {
      const Array2D<float> r = spectrograph.resolution(c, static_cast<int>((first + t) % fibers));
      std::copy(r.data(), r.data() + r.size(), &out[c].resolution(t, 0, 0));
    }
  });
  return out;
}

redshift::TargetSet prepared(const std::vector<Spectra>& cameras, std::size_t count,
                             Executor& executor) {
  std::vector<redshift::TargetView> views(count);
  for (std::size_t t = 0; t < count; ++t) {
    for (const Spectra& s : cameras) {
      const std::size_t n = s.nwave();
      views[t].spectra.push_back({s.wave,
                                  std::span<const double>(s.flux.row(t), n),
                                  std::span<const double>(s.ivar.row(t), n),
                                  {},
                                  std::span<const float>(&s.resolution(t, 0, 0), kDiagonals * n),
                                  kDiagonals});
    }
  }
  return redshift::prepare(views,
                           {.least_row_sum = 0,
                            .negative_nsig = 0,
                            .hot_pixel_nsig = 0,
                            .sky_line_share = 0,
                            .mask_sky_lines = false},
                           executor);
}

void check(const SurveyOptions& o) {
  const bool good = o.least_snr > 0 && o.most_snr >= o.least_snr && o.exptime_s > 0 &&
                    std::min({o.mix.galaxy, o.mix.qso, o.mix.star, o.mix.sky}) >= 0;
  if (good) return;
  throw Error(Status::kUsage,
              "simulated targets: expected 0 < lowest S/N <= highest, an exposure time above 0 and "
              "no negative share of a class");
}

}  // namespace

std::vector<double> draw_coefficients(const Template& t, double spread, const CounterRng& rng) {
  std::vector<double> c(t.nbasis(), 0.0);
  if (!t.training.empty()) {
    const auto row =
        static_cast<std::size_t>(rng.uniform(20) * static_cast<double>(t.training.rows()));
    for (std::size_t a = 0; a < c.size(); ++a) c[a] = t.training(row, a);
    return c;
  }
  const auto rms = [&](std::size_t a) {
    double sum = 0;
    for (std::size_t k = 0; k < t.wave.size(); ++k) sum += t.flux(a, k) * t.flux(a, k);
    return std::sqrt(sum / static_cast<double>(t.wave.size()));
  };
  c[0] = 1;
  for (std::size_t a = 1; a < c.size(); ++a) {
    c[a] = spread / static_cast<double>(a) * rng.normal(20 + a) * rms(0) / std::max(rms(a), 1e-300);
  }
  return c;
}

SurveyOptions without_defects(SurveyOptions options) {
  options.sky_residual = options.sky_shift_aa = options.bad_pixels = options.hot_pixels =
      options.missing_camera = 0;
  return options;
}

Survey simulate_survey(const Spectrograph& spectrograph, const Sources& sources,
                       const SurveyOptions& options, std::size_t first, std::size_t count,
                       Executor& executor) {
  check(options);
  Survey out;
  out.cameras = blank_spectra(spectrograph, first, count, executor);
  const redshift::TargetSet set = prepared(out.cameras, count, executor);
  const Light light(set, sources);
  out.targets.resize(count);
  executor.run(count, [&](std::size_t t) {
    const std::size_t target = first + t;
    Drawn drawn = draw(spectrograph, light, sources, set.targets[t], options, target);
    drawn.truth.fiber = static_cast<int>(target % static_cast<std::size_t>(spectrograph.nfiber()));
    for (std::size_t c = 0; c < out.cameras.size(); ++c) {
      observe(spectrograph.cameras()[c], options, target, c, drawn.models[c], t, out.cameras[c]);
    }
    const CounterRng rng = stream(options, target, kWhat);
    if (rng.uniform(5) < options.missing_camera) {
      const auto c = static_cast<std::size_t>(3 * rng.uniform(6));
      drawn.truth.missing = spectrograph.cameras()[c].name;
      std::fill_n(out.cameras[c].flux.row(t), out.cameras[c].nwave(), 0.0);
      std::fill_n(out.cameras[c].ivar.row(t), out.cameras[c].nwave(), 0.0);
    }
    out.targets[t] = std::move(drawn.truth);
  });
  return out;
}

}  // namespace fiberloom::truth
