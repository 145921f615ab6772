// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/calibrate/template_snr.hpp"

#include <algorithm>
#include <cmath>

#include "fiberloom/calibrate/cubic_through.hpp"
#include "fiberloom/calibrate/fiber_acceptance.hpp"
#include "fiberloom/calibrate/medians.hpp"
#include "fiberloom/calibrate/photometry.hpp"
#include "fiberloom/spectrum/same_wave.hpp"
#include "fiberloom/spectrum/sky_fibers.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom::calibrate {
namespace {

/// Lines of the sky that are too bright to tell read noise by, Angstrom.
constexpr double kBrightLines[] = {
    5199.4, 5578.4, 5656.4, 5891.4, 5897.4, 6302.4, 6308.4, 6365.4, 6500.4, 6546.4, 6555.4, 6618.4,
    6663.4, 6679.4, 6690.4, 6765.4, 6831.4, 6836.4, 6865.4, 6925.4, 6951.4, 6980.4, 7242.4, 7247.4,
    7278.4, 7286.4, 7305.4, 7318.4, 7331.4, 7343.4, 7360.4, 7371.4, 7394.4, 7404.4, 7440.4, 7526.4,
    7714.4, 7719.4, 7752.4, 7762.4, 7782.4, 7796.4, 7810.4, 7823.4, 7843.4, 7855.4, 7862.4, 7873.4,
    7881.4, 7892.4, 7915.4, 7923.4, 7933.4, 7951.4, 7966.4, 7982.4, 7995.4, 8016.4, 8028.4, 8064.4,
    8280.4, 8284.4, 8290.4, 8298.4, 8301.4, 8313.4, 8346.4, 8355.4, 8367.4, 8384.4, 8401.4, 8417.4,
    8432.4, 8454.4, 8467.4, 8495.4, 8507.4, 8627.4, 8630.4, 8634.4, 8638.4, 8652.4, 8657.4, 8662.4,
    8667.4, 8672.4, 8677.4, 8683.4, 8763.4, 8770.4, 8780.4, 8793.4, 8829.4, 8835.4, 8838.4, 8852.4,
    8870.4, 8888.4, 8905.4, 8922.4, 8945.4, 8960.4, 8990.4, 9003.4, 9040.4, 9052.4, 9105.4, 9227.4,
    9309.4, 9315.4, 9320.4, 9326.4, 9340.4, 9378.4, 9389.4, 9404.4, 9422.4, 9442.4, 9461.4, 9479.4,
    9505.4, 9521.4, 9555.4, 9570.4, 9610.4, 9623.4, 9671.4, 9684.4, 9693.4, 9702.4, 9714.4, 9722.4,
    9740.4, 9748.4, 9793.4, 9802.4, 9814.4, 9820.4};

/// Bins far from such lines, and from where the collimator's coating fails.
std::vector<bool> quiet_bins(std::span<const double> wave) {
  constexpr double kHalfWidth = 5, kCoatingFrom = 4300, kCoatingTo = 4500;
  std::vector<bool> out;
  for (const double w : wave) out.push_back(!(w >= kCoatingFrom && w <= kCoatingTo));
  for (const double line : kBrightLines) {
    if (wave.empty() || line <= wave.front() || line >= wave.back()) continue;
    for (std::size_t i = 0; i < wave.size(); ++i) {
      if (wave[i] >= line - kHalfWidth && wave[i] <= line + kHalfWidth) out[i] = false;
    }
  }
  return out;
}

/// Bins as numpy's gradient has them, on average.
double mean_bin(std::span<const double> wave) {
  const std::size_t n = wave.size();
  double sum = wave[1] - wave[0] + wave[n - 1] - wave[n - 2];
  for (std::size_t i = 1; i + 1 < n; ++i) sum += 0.5 * (wave[i + 1] - wave[i - 1]);
  return sum / static_cast<double>(n);
}

/// The variance of bins, electrons^2 an Angstrom^2.
struct NoiseModel {
  Array2D<double> read, sky;  ///< [nspec][nwave]
  [[nodiscard]] double operator()(std::size_t s, std::size_t i, double scale) const {
    return scale * read(s, i) + sky(s, i);
  }
};

NoiseModel noise_of(const DepthInputs& in, double bin) {
  const std::vector<double>& wave = in.raw.wave;
  NoiseModel out{Array2D<double>(in.raw.nspec(), wave.size()),
                 Array2D<double>(in.raw.nspec(), wave.size())};
  const NoiseArea& area = in.area;
  std::vector<double> inside;  // the tables end somewhere
  for (const double w : wave) inside.push_back(std::clamp(w, area.wave.front(), area.wave.back()));
  const auto row_of = [&](const Array2D<double>& table, std::size_t row) {
    return CubicThrough(area.wave, {table.row(row), table.row(row) + area.wave.size()},
                        Ends::kOneCubic)
        .along(inside);
  };
  for (std::size_t s = 0; s < in.raw.nspec(); ++s) {
    const std::vector<double> pixels = row_of(area.pixels, in.area_row[s]);
    const std::vector<double> step = row_of(area.aa_per_pixel, in.area_row[s]);
    for (std::size_t i = 0; i < wave.size(); ++i) {
      const double noise = in.read_noise(s, i);
      out.read(s, i) = noise * noise * pixels[i] * (bin / step[i]) / (bin * bin);
      out.sky(s, i) = in.flat.flat(s, i) * std::abs(in.sky.flux(s, i));
    }
  }
  return out;
}

/// What the sky fibres' errors are off from the model's, by bin: sums of |ivar - 1 / variance|.
class SkyErrors {
  struct Bin {
    double ivar, read, sky;
  };

 public:
  SkyErrors(const DepthInputs& in, const NoiseModel& noise) {
    const auto on_sky = sky_fibers(in.raw.fibermap);
    const std::vector<bool> quiet = quiet_bins(in.raw.wave);
    for (std::size_t s = 0; on_sky && s < in.raw.nspec(); ++s) {
      if (!(*on_sky)[s]) continue;
      for (std::size_t i = 0; i < quiet.size(); ++i) {
        const bool masked = !in.raw.mask.empty() && in.raw.mask(s, i) != 0;
        const bool good = quiet[i] && !masked && in.sky.ivar(s, i) > 0 && in.raw.ivar(s, i) > 0;
        const Bin bin{in.raw.ivar(s, i), noise.read(s, i), noise.sky(s, i)};
        // one that is no number would make the sum none, whatever the scale
        const bool finite =
            std::isfinite(bin.ivar) && std::isfinite(bin.read) && std::isfinite(bin.sky);
        if (good && finite) bins_.push_back(bin);
      }
    }
  }
  [[nodiscard]] bool empty() const { return bins_.empty(); }
  [[nodiscard]] double operator()(double scale) const {
    double sum = 0;
    for (const Bin& b : bins_) sum += std::abs(b.ivar - 1 / (scale * b.read + b.sky));
    return sum;
  }

 private:
  std::vector<Bin> bins_;
};

/// Where `off` is least, downhill from 1 within [least, most]: steps that double, then golden
/// sections.
double lowest(const SkyErrors& off, double least, double most) {
  constexpr double kFirstStep = 0.05, kGolden = 0.6180339887498949, kClose = 1e-7;
  double low = 1, middle = 1, high = 1, step = kFirstStep, here = off(1);
  const bool up = off(1 + step) < here;
  if (!up && !(off(1 - step) < here)) {
    low = 1 - step, high = 1 + step;
  } else {
    for (;;) {
      const double next = std::clamp(middle + (up ? step : -step), least, most);
      const double there = off(next);
      if (!(there < here)) {
        (up ? high : low) = next;
        break;
      }
      (up ? low : high) = middle;
      middle = next, here = there, step *= 2;
      if (next == least || next == most) return next;
    }
  }
  double a = high - kGolden * (high - low), b = low + kGolden * (high - low);
  double at_a = off(a), at_b = off(b);
  while (high - low > kClose * high) {
    if (at_a <= at_b) {
      high = b, b = a, at_b = at_a;
      a = high - kGolden * (high - low), at_a = off(a);
    } else {
      low = a, a = b, at_a = at_b;
      b = low + kGolden * (high - low), at_b = off(b);
    }
  }
  return 0.5 * (low + high);
}

/// By kind: what a fibre catches of such a target, against the point source that the flux
/// calibration knows of. Kinds that are not named catch as much. Empty: places are not known.
using Caught = std::map<std::string, std::vector<double>>;

Caught caught_light(const Table& fibermap, const FocalPlane& plane, const GuideShares& guide) {
  const std::optional<FiberPlaces> places = fiber_places(fibermap);
  if (!places || fibermap.rows == 0) return {};
  const FiberAcceptance& light = plane.acceptance;
  constexpr double kNominalSeeing = 1.1;  // arc seconds: what flux calibrations are made for
  constexpr double kRadiusOfElg = 0.45, kRadiusOfLrg = 1.0, kRadiusOfBgs = 1.5;
  const double as_of_um = plane.fiber_as / plane.fiber_um;
  const double fwhm =
      2 * std::sqrt(2 * std::log(2.0)) * sigma_of_share(light, guide.point) * as_of_um;
  const double average = sigma_of_fwhm(fwhm) / as_of_um;
  const double nominal = sigma_of_fwhm(kNominalSeeing) / as_of_um;
  std::vector<double> point, usual;  // now; in the nominal seeing
  std::vector<double> sigmas;
  double mean_point = 0, mean_usual = 0;
  for (std::size_t f = 0; f < fibermap.rows; ++f) {
    const double scale = plate_scale(plane, places->x[f], places->y[f]), off = places->offset[f];
    sigmas.push_back(sigma_of_fwhm(fwhm) * scale);
    point.push_back(guide.point * caught_of_point(light, sigmas[f], off) /
                    caught_of_point(light, average, 0));
    usual.push_back(guide.point *
                    caught_of_point(light, sigma_of_fwhm(kNominalSeeing) * scale, off) /
                    caught_of_point(light, nominal, 0));
    mean_point += point[f], mean_usual += usual[f];
  }
  mean_point /= static_cast<double>(fibermap.rows);
  mean_usual /= static_cast<double>(fibermap.rows);
  constexpr double kOnTarget = 0.01;  // with less of the usual light no more is said of a fibre
  // light(sigma, offset) of a source now, against the usual light of a point
  const auto against_points = [&](const auto& light_of) {
    std::vector<double> out;
    for (std::size_t f = 0; f < fibermap.rows; ++f) {
      const double of_usual = usual[f] / mean_usual;
      out.push_back(of_usual > kOnTarget ? light_of(f) / mean_point / of_usual : 1.0);
    }
    return out;
  };
  const auto galaxies = [&](double share, double radius, auto caught) {
    const double scale = share / caught(light, radius, average, 0);
    return against_points([&, scale](std::size_t f) {
      return scale * caught(light, radius, sigmas[f], places->offset[f]);
    });
  };
  Caught out;
  out["elg"] = out["gpbdark"] = galaxies(guide.elg, kRadiusOfElg, caught_of_disk);
  out["bgs"] = out["gpbbright"] = galaxies(guide.bgs, kRadiusOfBgs, caught_of_bulge);
  out["lrg"] = galaxies(guide.lrg, kRadiusOfLrg, caught_of_bulge);
  const std::vector<double> points = against_points([&](std::size_t f) { return point[f]; });
  for (const char* kind : {"psf", "mws", "qso", "lya", "gpbbackup"}) out[kind] = points;
  return out;
}

/// Kinds that differ by their templates alone.
struct Group {
  double own_light;  ///< of typical targets, as own_light() has it
  bool is_dusty;
  std::vector<std::size_t> kinds;  ///< of the templates
  [[nodiscard]] bool has(double light, bool dusty) const {
    return own_light == light && is_dusty == dusty;
  }
};

/// Stars of our own galaxy: bright, and before its dust.
bool is_backup(const std::string& kind) { return kind == "backup" || kind == "gpbbackup"; }

/// Light of typical targets of bright kinds themselves, nanomaggies through a fibre in the nominal
/// seeing; 0: too faint to count. (The DESI survey's definition of its speed.)
double own_light(const std::string& kind) {
  const double x = std::log(1.1);
  const auto share = [&](double c3, double c2, double c1, double c0) {
    return std::exp(((c3 * x + c2) * x + c1) * x + c0);
  };
  if (kind == "bgs" || kind == "gpbbright") return 15.8 * share(0.0341, -0.3611, -0.7175, -1.5643);
  if (is_backup(kind)) return 27.5 * share(0.0989, -0.5588, -0.9708, -0.4473);
  return 0;
}

std::vector<Group> groups_of(std::span<const SnrTemplate> templates) {
  std::vector<Group> groups;
  for (std::size_t k = 0; k < templates.size(); ++k) {
    const std::string& kind = templates[k].kind;
    const double own = own_light(kind);
    const bool dusty = !is_backup(kind);
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& g) { return g.has(own, dusty); });
    if (group == groups.end()) group = groups.insert(groups.end(), {own, dusty, {}});
    group->kinds.push_back(k);
  }
  return groups;
}

/// Of one nanomaggie at 1 Angstrom, 1e-17 erg/(s cm2 Angstrom); falls with wavelength squared.
constexpr double kOfNanomaggie = 1e-9 * 3631e-23 * 2.99792458e18 * 1e17;

std::vector<double> on_grid(const SnrTemplate& t, std::span<const double> wave) {
  if (same_grid(t.wave, wave)) return t.light;
  std::vector<double> out;
  for (const double w : wave) out.push_back(interpolate(t.wave, t.light, w));
  return out;
}

}  // namespace

constexpr double kLrgOfBgs = 0.2502 / 0.19365;  // of their shares

GuideShares usual_shares() noexcept {
  return {0.537283, 0.973 * 0.391030, 0.985 * 0.174810, 0.965 * 0.174810 * kLrgOfBgs};
}

GuideShares measured_shares(double point, double elg, double bgs) noexcept {
  return {point, elg, bgs, bgs * kLrgOfBgs};
}

Depth depth_of(const DepthInputs& in, std::span<const SnrTemplate> templates) {
  const std::vector<double>& wave = in.raw.wave;
  const std::size_t nspec = in.raw.nspec(), n = wave.size();
  const double bin = mean_bin(wave);
  const NoiseModel noise = noise_of(in, bin);
  constexpr double kLeastScale = 0.8, kMostScale = 1e4;
  Depth out;
  const SkyErrors off(in, noise);
  if (!off.empty()) out.read_noise_scale = lowest(off, 0.5 * kLeastScale, kMostScale);
  out.scale_was_raised = out.read_noise_scale < kLeastScale;
  out.read_noise_scale = std::max(kLeastScale, out.read_noise_scale);

  const std::optional<Table>& fibermap = in.raw.fibermap;
  const Caught caught = fibermap ? caught_light(*fibermap, in.plane, in.shares) : Caught();
  const auto ebv = fibermap ? fibermap->column("EBV") : std::nullopt;
  const std::vector<Group> groups = groups_of(templates);
  std::vector<std::vector<double>> squares;  // of the templates
  for (const SnrTemplate& t : templates) {
    squares.push_back(on_grid(t, wave));
    for (double& v : squares.back()) v *= v;
    out.snr2[t.kind].assign(nspec, 0.0);
  }
  std::vector<double> dust = dust_transmission(wave, 1);
  for (double& d : dust) d = std::log(d);
  std::vector<double> electrons(n), through(n), weight(n);
  for (std::size_t s = 0; s < nspec; ++s) {
    const double reddening = ebv && std::isfinite((*ebv)[s]) ? (*ebv)[s] : 0;
    for (std::size_t i = 0; i < n; ++i) {
      const bool masked = !in.calibrated.mask.empty() && in.calibrated.mask(s, i) != 0;
      const bool used = !masked && in.calibrated.ivar(s, i) > 0;
      electrons[i] = used ? in.flux.calib(s, i) * in.flat.flat(s, i) : 0;
      through[i] = std::exp(2 * reddening * dust[i]);
    }
    for (const Group& group : groups) {
      const double own = group.own_light * kOfNanomaggie * bin;
      for (std::size_t i = 0; i < n; ++i) {
        const double variance =
            noise(s, i, out.read_noise_scale) + own * electrons[i] / (wave[i] * wave[i]);
        weight[i] = electrons[i] * electrons[i] * (group.is_dusty ? through[i] : 1) / variance;
        if (electrons[i] == 0) weight[i] = 0;  // the variance may be as well
      }
      for (const std::size_t k : group.kinds) {
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) sum += weight[i] * squares[k][i];
        const auto share = caught.find(templates[k].kind);
        const double factor = share == caught.end() ? 1 : share->second[s];
        const double snr2 = sum * factor * factor;
        if (!std::isfinite(snr2)) {
          throw Error(Status::kNumerical, print("TSNR2 of %s of spectrum %zu is no number: what a "
                                                "fibre catches, or the template, makes none",
                                                templates[k].kind.c_str(), s));
        }
        out.snr2[templates[k].kind][s] = snr2;
      }
    }
  }
  return out;
}

}  // namespace fiberloom::calibrate
