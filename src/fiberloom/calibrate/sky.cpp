// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/calibrate/sky.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>

#include "fiberloom/calibrate/deconvolution.hpp"
#include "fiberloom/calibrate/sky_lines.hpp"
#include "fiberloom/calibrate/sky_throughput.hpp"
#include "fiberloom/calibrate/sky_variance.hpp"
#include "fiberloom/calibrate/usable.hpp"
#include "fiberloom/calibrate/wide_loops.hpp"
#include "fiberloom/spectrum/sky_fibers.hpp"
#include "loom/base/error.hpp"
#include "loom/base/median.hpp"

namespace fiberloom::calibrate {
namespace {

double median_of_row(std::span<const double> row) {
  std::vector<double> values(row.begin(), row.end());
  return median_of(values);
}

class SkyFitting {
 public:
  SkyFitting(const Spectra& spectra, char band, const SkyOptions& options, Executor& executor)
      : spectra_(spectra), band_(band), o_(options), executor_(executor), n_(spectra.nwave()) {
    const Array2D<double> usable = usable_ivar(spectra, Purpose::kSky, band);
    for (const std::size_t s : sky_rows(spectra)) {
      if (any_above_zero({usable.row(s), n_})) out_.fibers.push_back(s);
    }
    if (out_.fibers.empty()) {
      throw Error(Status::kNumerical,
                  "sky: no sky fibre with light, expected one at least with OBJTYPE 'SKY' and ivar "
                  "> 0 that FIBERSTATUS does not forbid");
    }
    ivar_ = Array2D<double>(nsky(), n_);
    flux_ = Array2D<double>(nsky(), n_);
    for (std::size_t f = 0; f < nsky(); ++f) {
      std::copy_n(usable.row(out_.fibers[f]), n_, ivar_.row(f));
      for (std::size_t i = 0; i < n_; ++i) {
        const double v = spectra.flux(out_.fibers[f], i);
        flux_(f, i) = std::isfinite(v) ? v : 0;
      }
    }
    if (o_.weight == SkyWeight::kModel) model_weights();
  }

  SkyFit run() {
    residual_ = Array2D<double>(nsky(), n_);
    for (out_.iterations = 1;; ++out_.iterations) {
      equations_ = normal_equations(n_, 0, sightings(), executor_);
      out_.deconvolved = solve(equations_, {}, WithCovariance::kNo).value;
      take_residuals();
      discard_far_fibers();
      const std::size_t dropped = out_.iterations == 1 ? clip_worst() : clip_all();
      out_.clipped += dropped;
      const bool enough = dropped == 0 && out_.iterations >= o_.least_iterations;
      if (enough || out_.iterations >= o_.most_iterations) break;
    }
    see_through_all();
    if (o_.adjust_wavelength || o_.adjust_lsf) adjust_to_fibers();
    if (nsky() > 1 && o_.extra_variance) add_line_variance(spectra_, out_.fibers, o_, out_);
    leave_out_what_is_unknown();
    if (o_.throughput == LineThroughput::kFitted) {
      out_.throughput =
          line_throughput(spectra_.flux, usable_ivar(spectra_, Purpose::kSky, band_), out_);
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::size_t nsky() const noexcept { return out_.fibers.size(); }

  /// Each fibre's ivar as its median times that of the wavelength; what is below 1 % of that
  /// (masked, or nearly) stays.
  void model_weights() {
    const std::size_t n = n_;
    std::vector<double> of_wave(n), of_fiber(nsky());
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<double> column(nsky());
      for (std::size_t f = 0; f < nsky(); ++f) column[f] = ivar_(f, i);
      of_wave[i] = median_of(column);
    }
    for (std::size_t f = 0; f < nsky(); ++f) of_fiber[f] = median_of_row({ivar_.row(f), n});
    const double middle = median_of_row(of_fiber);
    if (!(middle > 0)) return;  // most of the pixels are masked: nothing to model
    constexpr double kLeast = 0.01;
    for (std::size_t f = 0; f < nsky(); ++f) {
      for (std::size_t i = 0; i < n; ++i) {
        if (ivar_(f, i) > kLeast * of_wave[i]) ivar_(f, i) = of_fiber[f] / middle * of_wave[i];
      }
    }
  }

  [[nodiscard]] std::vector<Sighting> sightings() {
    std::vector<Sighting> out;
    for (std::size_t f = 0; f < nsky(); ++f) {
      if (!any_above_zero({ivar_.row(f), n_})) continue;
      out.push_back({banded(spectra_.resolution, out_.fibers[f]), flux_.view().row_span(f),
                     ivar_.view().row_span(f)});
    }
    return out;
  }

  void take_residuals() {
    executor_.run(nsky(), [&](std::size_t f) {
      const std::span<double> r = residual_.view().row_span(f);
      multiply_wide(banded(spectra_.resolution, out_.fibers[f]), out_.deconvolved, r);
      for (std::size_t i = 0; i < n_; ++i) r[i] = flux_(f, i) - r[i];
    });
  }
  [[nodiscard]] double chi2(std::size_t f, std::size_t i) const {
    return ivar_(f, i) * residual_(f, i) * residual_(f, i);
  }

  /// Fibres whose median residual lies far beyond that of the others: there is light in them.
  void discard_far_fibers() {
    std::vector<double> middle(nsky(), 0.0), sizes;
    for (std::size_t f = 0; f < nsky(); ++f) {
      std::vector<double> good;
      for (std::size_t i = 0; i < n_; ++i) {
        if (ivar_(f, i) > 0) good.push_back(residual_(f, i));
      }
      if (!good.empty()) middle[f] = median_of(good);
      if (middle[f] != 0) sizes.push_back(std::abs(middle[f]));
    }
    constexpr std::size_t kFewest = 3;
    if (sizes.size() < kFewest) return;
    constexpr double kSigmaOfMad = 1.48;
    const double most = o_.fiber_nsig * kSigmaOfMad * median_of(sizes);
    for (std::size_t f = 0; f < nsky(); ++f) {
      if (std::abs(middle[f]) <= most) continue;
      std::fill_n(ivar_.row(f), n_, 0.0);
      out_.discarded.push_back(out_.fibers[f]);
    }
  }

  /// The first time only the worst of each wavelength: it may have drawn the others away. Fibres
  /// that have just been discarded count as they were.
  std::size_t clip_worst() {
    std::size_t dropped = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      std::size_t worst = 0;
      double most = -1;
      for (std::size_t f = 0; f < nsky(); ++f) {
        const double c = chi2(f, i);
        if (c > most) most = c, worst = f;
      }
      if (!(most > o_.clip_nsig * o_.clip_nsig)) continue;
      ivar_(worst, i) = 0;
      ++dropped;
    }
    return dropped;
  }

  std::size_t clip_all() {
    std::size_t dropped = 0;
    for (std::size_t f = 0; f < nsky(); ++f) {
      for (std::size_t i = 0; i < n_; ++i) {
        if (!(chi2(f, i) > o_.clip_nsig * o_.clip_nsig)) continue;
        ivar_(f, i) = 0;
        ++dropped;
      }
    }
    return dropped;
  }

  /// The sky of each fibre and its variance, as the last solution has them.
  void see_through_all() {
    const Deconvolved sky = solve(equations_, {}, WithCovariance::kYes);
    known_ = sky.known;
    const std::size_t nspec = spectra_.nspec();
    out_.wave = spectra_.wave;
    out_.flux = Array2D<double>(nspec, n_);
    out_.ivar = Array2D<double>(nspec, n_);
    mean_ = mean_matrix(spectra_.resolution);
    // of all fibres: through each fibre's own R was tried, and no nearer to the truth
    const std::vector<double> variance =
        variance_through(banded(std::as_const(mean_)), sky.covariance);
    executor_.run(nspec, [&](std::size_t s) {
      const Banded<const float> r = banded(spectra_.resolution, s);
      multiply_wide(r, sky.value, out_.flux.view().row_span(s));
      for (std::size_t i = 0; i < n_; ++i) out_.ivar(s, i) = variance[i] > 0 ? 1 / variance[i] : 0;
    });
    out_.stat_ivar = out_.ivar;
    const auto ids = spectra_.fibermap->integers("TARGETID", -1);
    for (const std::size_t s : out_.fibers) {
      if (ids) out_.sky_targets.push_back((*ids)[s]);
    }
  }

  void adjust_to_fibers() {
    if (o_.line_pixels == LinePixels::kAll) {
      out_.adjustment =
          adjust_lines(spectra_.flux, spectra_.ivar, out_.fibers, o_, out_, executor_);
      return;
    }
    // not ivar_: the clip has left out what is far from the sky that all have, lines that are off
    // too
    const Array2D<double> usable = usable_ivar(spectra_, Purpose::kSky, band_);
    std::vector<std::size_t> near;
    for (const std::size_t s : out_.fibers) {
      const auto& far = out_.discarded;
      if (std::find(far.begin(), far.end(), s) == far.end()) near.push_back(s);
    }
    out_.adjustment = adjust_lines(spectra_.flux, usable, near, o_, out_, executor_);
  }

  /// Bins that no sky fibre saw, and whatever they reach by two resolutions; bins with too few.
  void leave_out_what_is_unknown() {
    std::vector<double> unknown(n_), once(n_), twice(n_);
    for (std::size_t i = 0; i < n_; ++i) unknown[i] = known_[i] == 0 ? 1 : 0;
    const Banded<const float> mean = banded(std::as_const(mean_));
    multiply_wide(mean, unknown, once);
    multiply_wide(mean, once, twice);
    const std::size_t fewest = std::min<std::size_t>(10, std::max<std::size_t>(1, nsky() / 2));
    std::vector<bool> few(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      std::size_t good = 0;
      for (std::size_t f = 0; f < nsky(); ++f) good += ivar_(f, i) > 0 ? 1 : 0;
      few[i] = good < fewest;
    }
    out_.mask = Array2D<std::uint32_t>(spectra_.nspec(), n_, 0U);
    for (std::size_t i = 0; i < n_; ++i) {
      const bool inside = i > 0 && i + 1 < n_;
      const bool beside = inside && (few[i - 1] || few[i + 1]);
      const bool bad = twice[i] != 0 || few[i] || beside;
      for (std::size_t s = 0; s < spectra_.nspec(); ++s) {
        if (bad) out_.flux(s, i) = out_.ivar(s, i) = 0;
        if (!(out_.ivar(s, i) > 0)) out_.mask(s, i) |= kBadSky;
      }
    }
    for (const std::size_t s : out_.discarded) {
      for (std::size_t i = 0; i < n_; ++i) out_.mask(s, i) |= kBadSky;
    }
  }

  const Spectra& spectra_;
  char band_;
  const SkyOptions& o_;
  Executor& executor_;
  std::size_t n_;
  Array2D<double> flux_, ivar_, residual_;  ///< [nsky][nwave]
  NormalEquations equations_;
  std::vector<unsigned char> known_;
  Array2D<float> mean_;  ///< of all fibres' R
  SkyFit out_;
};

}  // namespace

SkyOptions desispec_sky() {
  SkyOptions o;
  o.weight = SkyWeight::kGiven;
  o.line_fibers = LineFibers::kAll;
  o.throughput = LineThroughput::kFitted;
  o.unmeasured = UnmeasuredFibers::kNotMoved;
  o.line_pixels = LinePixels::kAll;
  return o;
}

std::vector<std::size_t> sky_rows(const Spectra& spectra) {
  const auto on_sky = sky_fibers(spectra.fibermap);
  if (!on_sky) {
    throw Error(Status::kMissingKeyword,
                "sky: no column OBJTYPE of a FIBERMAP, expected one to tell sky fibres by");
  }
  const auto status = spectra.fibermap->integers("FIBERSTATUS", 0);
  std::vector<std::size_t> out;
  for (std::size_t s = 0; s < on_sky->size(); ++s) {
    const auto bits = status ? static_cast<std::uint32_t>((*status)[s]) : 0U;
    if ((*on_sky)[s] && (bits & kVariableThroughput) == 0) out.push_back(s);
  }
  return out;
}

SkyFit compute_sky(const Spectra& flat_fielded, char band, const SkyOptions& options,
                   Executor& executor) {
  if (flat_fielded.resolution.empty() || flat_fielded.nspec() == 0) {
    throw Error(Status::kWrongShape, "sky: spectra without resolution, expected a frame");
  }
  return SkyFitting(flat_fielded, band, options, executor).run();
}

void subtract_sky(Spectra& spectra, const SkyModel& sky, char band) {
  require_same_grid("sky", sky.wave, sky.flux.rows(), spectra);
  const std::size_t n = spectra.nwave();
  const Array2D<double> usable = usable_ivar(spectra, Purpose::kSky, band);
  const std::vector<bool> out_of_use = forbidden(spectra, Purpose::kSky, band);
  if (spectra.mask.empty()) spectra.mask = Array2D<std::uint32_t>(spectra.nspec(), n, 0U);
  const bool scaled = !sky.throughput.empty() && band != 'b';  // of blue there is one line
  const std::vector<std::size_t> between =
      scaled ? bins_between_lines(sky.wave) : std::vector<std::size_t>();
  std::vector<double> light(n);
  for (std::size_t s = 0; s < spectra.nspec(); ++s) {
    std::copy_n(sky.flux.row(s), n, light.begin());
    if (scaled) scale_lines(sky.wave, between, sky.throughput[s], light);
    for (std::size_t i = 0; i < n; ++i) {
      const double a = usable(s, i), b = sky.ivar(s, i);
      spectra.flux(s, i) -= light[i];
      spectra.ivar(s, i) = a > 0 && b > 0 ? 1 / (1 / a + 1 / b) : 0;
      spectra.mask(s, i) |= sky.mask(s, i);
      if (out_of_use[s]) spectra.mask(s, i) |= kBadFiber;
      if (std::isfinite(spectra.flux(s, i))) continue;
      spectra.flux(s, i) = spectra.ivar(s, i) = 0;  // a sky that is no number
      spectra.mask(s, i) |= kBadSky;
    }
  }
}

}  // namespace fiberloom::calibrate
