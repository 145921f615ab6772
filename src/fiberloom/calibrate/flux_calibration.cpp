// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/calibrate/flux_calibration.hpp"

#include <algorithm>
#include <cmath>

#include "fiberloom/calibrate/deconvolution.hpp"
#include "fiberloom/calibrate/flux_stars.hpp"
#include "fiberloom/calibrate/medians.hpp"
#include "fiberloom/calibrate/usable.hpp"
#include "fiberloom/calibrate/wide_loops.hpp"
#include "loom/base/error.hpp"
#include "loom/base/median.hpp"
#include "loom/base/print.hpp"

namespace fiberloom::calibrate {
namespace {

class FluxFitting {
 public:
  FluxFitting(const Spectra& spectra, const StarModels& models, const FluxOptions& o,
              Executor& executor)
      : spectra_(spectra),
        o_(o),
        executor_(executor),
        wave_(padded_wave(spectra.wave)),
        n_(wave_.size()) {
    for (const StarModel& star : models.stars) {
      stars_.push_back(padded_star(spectra, star, models.wave, wave_, flat_to_psf(star.row)));
    }
    if (stars_.empty()) {
      throw Error(Status::kNumerical,
                  "flux calibration: no standard star with a model, expected one at least");
    }
    scale_.assign(nstar(), 1.0);
    left_out_.assign(nstar(), false);
    chi2_ = Array2D<double>(nstar(), n_, 0.0);
  }

  FluxFit run() {
    out_.median_snr = median_snr(stars_);
    if (out_.median_snr < o_.least_snr) return scaled_average();
    start();
    for (int iteration = 0; iteration < o_.most_iterations; ++iteration) {
      out_.iterations = iteration + 1;
      solve_once();
      fit_scales();
      const std::size_t rejected = iteration == 0 ? clip_worst() : clip_all();
      out_.clipped += rejected;
      const double mean = mean_scale();
      for (double& a : scale_) a /= mean;
      for (double& c : calibration_) c *= mean;
      if (rejected == 0 && std::abs(mean - 1) < 1e-4) break;
    }
    see_through_all();
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::size_t nstar() const noexcept { return stars_.size(); }
  [[nodiscard]] double flat_to_psf(std::size_t s) const {
    return o_.flat_to_psf.empty() ? 1 : o_.flat_to_psf[s];
  }

  /// The median of data / model, and each star's scale on it; pixels far from that are rejected
  /// with an error of 20 % besides, so that only what is no light goes.
  void start() {
    median_.assign(n_, 0.0);
    for (std::size_t j = 0; j < n_; ++j) {
      std::vector<double> ratios;
      for (const PaddedStar& star : stars_) {
        ratios.push_back(star.seen[j] != 0 ? star.flux[j] / star.seen[j] : 0);
      }
      median_[j] = median_of(ratios);
    }
    constexpr double kModelError = 0.2;
    for (std::size_t k = 0; k < nstar(); ++k) {
      PaddedStar& star = stars_[k];
      if (!any_above_zero(star.ivar)) {
        left_out_[k] = true;
        continue;
      }
      std::vector<double> expected(n_);
      for (std::size_t j = 0; j < n_; ++j) expected[j] = median_[j] * star.seen[j];
      if (!take_scale(k, expected)) continue;
      for (std::size_t j = 0; j < n_; ++j) {
        double& v = star.ivar[j];
        const double light = o_.clip == FluxClip::kData ? star.flux[j] : scale_[k] * expected[j];
        if (v > 0) v = 1 / (1 / v + std::pow(kModelError * light, 2));
      }
      take_chi2(k, expected);
    }
    const double mean = harmonic_mean(left_out_);
    for (double& a : scale_) a /= mean;
    for (double& c : median_) c *= mean;
    for (std::size_t k = 0; k < nstar(); ++k) {
      for (std::size_t j = 0; j < n_; ++j) {
        if (!(chi2_(k, j) > o_.clip_nsig * o_.clip_nsig)) continue;
        stars_[k].ivar[j] = 0;
        ++out_.clipped;
      }
    }
  }

  /// False where the star gives too little light: it is left out from here on.
  bool take_scale(std::size_t k, const std::vector<double>& expected) {
    PaddedStar& star = stars_[k];
    double a = 0, b = 0;
    for (std::size_t j = 0; j < n_; ++j) {
      a += star.ivar[j] * expected[j] * expected[j];
      b += star.ivar[j] * star.flux[j] * expected[j];
    }
    scale_[k] = a > 0 ? b / a : 0;
    if (scale_[k] >= o_.least_scale) return true;
    left_out_[k] = true;
    std::fill(star.ivar.begin(), star.ivar.end(), 0.0);
    return false;
  }
  void take_chi2(std::size_t k, const std::vector<double>& expected) {
    const PaddedStar& star = stars_[k];
    for (std::size_t j = 0; j < n_; ++j) {
      chi2_(k, j) = star.ivar[j] * std::pow(star.flux[j] - scale_[k] * expected[j], 2);
    }
  }
  /// 1 / mean(1 / a) of the stars that are in: data / model is what is to be right on average.
  [[nodiscard]] double harmonic_mean(const std::vector<bool>& without) const {
    double sum = 0, count = 0;
    for (std::size_t k = 0; k < nstar(); ++k) {
      if (!without[k]) sum += 1 / scale_[k], ++count;
    }
    if (count > 0) return count / sum;
    throw Error(Status::kNumerical,
                "flux calibration: all standard stars left out, expected one at least whose light "
                "agrees with its model");
  }

  [[nodiscard]] NormalEquations equations() {
    std::vector<std::vector<double>> gains(nstar());
    std::vector<Sighting> all;
    for (std::size_t k = 0; k < nstar(); ++k) {
      if (left_out_[k]) continue;
      const PaddedStar& star = stars_[k];
      gains[k].assign(n_, scale_[k]);
      all.push_back({banded(star.resolution), star.flux, star.ivar, gains[k], star.model});
    }
    return normal_equations(n_, 0, all, executor_);
  }
  /// Of the smallest weight: what keeps bins that no star sees determined.
  [[nodiscard]] double ridge() const {
    constexpr double kShare = 1e-4;
    double least = 0;
    for (const PaddedStar& star : stars_) {
      for (const double v : star.ivar) {
        if (v > 0 && (least == 0 || v < least)) least = v;
      }
    }
    return kShare * least;
  }

  void solve_once() {
    equations_ = equations();
    ridge_ = ridge();
    NormalEquations toward = equations_;
    for (std::size_t j = 0; j < n_; ++j) toward.y[j] += ridge_ * median_[j];
    calibration_ = solve(toward, {.ridge = ridge_}, WithCovariance::kNo).value;
  }

  void fit_scales() {
    for (std::size_t k = 0; k < nstar(); ++k) {
      if (left_out_[k]) continue;
      std::vector<double> light(n_), expected(n_);
      for (std::size_t j = 0; j < n_; ++j) light[j] = calibration_[j] * stars_[k].model[j];
      multiply(banded(std::as_const(stars_[k].resolution)), std::span<const double>(light),
               std::span<double>(expected));
      if (take_scale(k, expected)) take_chi2(k, expected);
    }
  }

  /// The first time only the worst star of each wavelength.
  std::size_t clip_worst() {
    std::size_t rejected = 0;
    for (std::size_t j = 0; j < n_; ++j) {
      std::size_t worst = 0;
      for (std::size_t k = 1; k < nstar(); ++k) {
        if (chi2_(k, j) > chi2_(worst, j)) worst = k;
      }
      if (!(chi2_(worst, j) > o_.clip_nsig * o_.clip_nsig)) continue;
      stars_[worst].ivar[j] = 0;
      ++rejected;
    }
    return rejected;
  }
  std::size_t clip_all() {
    std::size_t rejected = 0;
    for (std::size_t k = 0; k < nstar(); ++k) {
      for (std::size_t j = 0; j < n_; ++j) {
        if (!(chi2_(k, j) > o_.clip_nsig * o_.clip_nsig)) continue;
        stars_[k].ivar[j] = 0;
        ++rejected;
      }
    }
    return rejected;
  }

  /// Mean scale of the stars that agree with the others; the one that does so least goes.
  double mean_scale() {
    std::vector<double> in, off;
    for (std::size_t k = 0; k < nstar(); ++k) {
      if (!left_out_[k]) in.push_back(scale_[k]);
    }
    if (in.empty()) return harmonic_mean(left_out_);
    const double middle = median_of(in);
    for (const double a : in) off.push_back(std::abs(a - middle));
    constexpr double kSigmaOfMad = 1.4, kClose = 0.05;
    const double most = o_.scale_nsig * kSigmaOfMad * median_of(off);
    std::vector<bool> without = left_out_;
    std::size_t worst = nstar();
    for (std::size_t k = 0; k < nstar(); ++k) {
      if (left_out_[k] || !(std::abs(scale_[k] - middle) > most)) continue;
      without[k] = true;
      const double distance = std::abs(scale_[k] - 1);
      if (distance <= kClose) continue;
      if (worst == nstar() || distance > std::abs(scale_[worst] - 1)) worst = k;
    }
    const double mean = harmonic_mean(without);
    if (worst < nstar()) left_out_[worst] = true;
    return mean;
  }

  /// Outliers gone: the last solution, and its variance through the mean R.
  [[nodiscard]] std::vector<double> finish() {
    const NormalEquations before = equations_;
    for (PaddedStar& star : stars_) {
      for (std::size_t j = 0; j < n_; ++j) star.ivar[j] = star.ivar[j] > 0 ? star.given[j] : 0;
    }
    NormalEquations all = equations();
    double added = ridge();
    if (o_.weights == FluxWeights::kClipping) {
      for (std::size_t k = 0; k < all.a.size(); ++k) all.a.data()[k] += before.a.data()[k];
      added += ridge_;
    }
    for (std::size_t j = 0; j < n_; ++j) all.y[j] += added * median_[j];
    const Deconvolved solved = solve(all, {.ridge = added}, WithCovariance::kYes);
    if (o_.weights == FluxWeights::kFinal) calibration_ = solved.value;
    const Array2D<float> all_fibers = mean_matrix(spectra_.resolution);
    Array2D<float> mean(all_fibers.rows(), n_);
    pad_resolution(banded(all_fibers), banded(mean));
    return variance_through(banded(std::as_const(mean)), solved.covariance);
  }

  [[nodiscard]] std::vector<bool> too_few_stars() const {
    const std::size_t fewest = std::min<std::size_t>(3, std::max<std::size_t>(1, nstar() / 2));
    std::vector<bool> few(n_), out(n_);
    for (std::size_t j = 0; j < n_; ++j) {
      std::size_t seen = 0;
      for (const PaddedStar& star : stars_) seen += star.ivar[j] > 0 ? 1 : 0;
      few[j] = seen < fewest;
    }
    for (std::size_t j = 0; j < n_; ++j) {
      const bool inside = j > 0 && j + 1 < n_;
      out[j] = few[j] || (inside && (few[j - 1] || few[j + 1]));
    }
    return out;
  }

  /// What each fibre sees of the calibration, on the frame's grid.
  void see_through_all() {
    const std::size_t n = spectra_.nwave(), nspec = spectra_.nspec();
    const std::vector<double> var = finish();
    const std::vector<bool> few = too_few_stars();
    const std::vector<double> ones(n_, 1.0);
    begin_result();
    executor_.run(nspec, [&](std::size_t s) {
      Array2D<float> r(spectra_.resolution.rows(), n_);
      pad_resolution(banded(spectra_.resolution, s), banded(r));
      std::vector<double> seen(n_), sums(n_);
      multiply_wide(banded(std::as_const(r)), calibration_, seen);
      multiply_wide(banded(std::as_const(r)), ones, sums);
      const double p = out_.flat_to_psf[s];
      for (std::size_t j = 0; j < n_; ++j) {
        seen[j] = few[j] || !(sums[j] > 0) ? 0 : seen[j] / sums[j] / p;
      }
      bridge_interstellar(wave_, seen);
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t j = i + kMargin;
        out_.calib(s, i) = seen[j];
        out_.ivar(s, i) = few[j] || !(var[j] > 0) ? 0 : p * p / var[j];
      }
    });
    out_.deconvolved.assign(calibration_.begin() + kMargin, calibration_.end() - kMargin);
    if (!spectra_.mask.empty()) out_.mask = spectra_.mask;
    for (std::size_t k = 0; k < nstar(); ++k) {
      if (left_out_[k]) {
        ++out_.left_out;
      } else {
        out_.stars.push_back(stars_[k].row), out_.scales.push_back(scale_[k]);
      }
    }
  }

  void begin_result() {
    const std::size_t n = spectra_.nwave(), nspec = spectra_.nspec();
    out_.wave = spectra_.wave;
    out_.calib = out_.ivar = Array2D<double>(nspec, n, 0.0);
    out_.mask = Array2D<std::uint32_t>(nspec, n, 0U);
    out_.flat_to_psf.assign(nspec, 1.0);
    for (std::size_t s = 0; s < nspec; ++s) {
      if (flat_to_psf(s) > 0) out_.flat_to_psf[s] = flat_to_psf(s);
    }
  }

  /// Stars too faint to say more than how clear the night was.
  FluxFit scaled_average() {
    if (o_.average.empty()) {
      throw Error(Status::kNumerical,
                  print("flux calibration: standard stars of a median S/N of %.2f, expected %.2f, "
                        "or an average calibration to be scaled",
                        out_.median_snr, o_.least_snr));
    }
    const std::vector<double> average = scaled_to_stars(o_, wave_, stars_);
    begin_result();
    out_.is_average = true;
    for (std::size_t i = 0; i < spectra_.nwave(); ++i) {
      const double c = average[i + kMargin];
      out_.deconvolved.push_back(c);
      for (std::size_t s = 0; s < spectra_.nspec(); ++s) {
        out_.calib(s, i) = c;
        out_.ivar(s, i) = c > 0 ? 1 / (c * c) : 0;
        out_.mask(s, i) = 1;
      }
    }
    return std::move(out_);
  }

  const Spectra& spectra_;
  const FluxOptions& o_;
  Executor& executor_;
  std::vector<double> wave_;
  std::size_t n_;
  std::vector<PaddedStar> stars_;
  std::vector<double> scale_, median_, calibration_;
  std::vector<bool> left_out_;
  Array2D<double> chi2_;  ///< [star][bin]; of one that is left out as it last was
  NormalEquations equations_;
  double ridge_ = 0;
  FluxFit out_;
};

}  // namespace

FluxOptions desispec_flux() {
  FluxOptions o;
  o.weights = FluxWeights::kClipping;
  o.clip = FluxClip::kData;
  return o;
}

FluxFit compute_flux_calibration(const Spectra& sky_subtracted, const StarModels& models,
                                 const FluxOptions& options, Executor& executor) {
  const bool known = std::all_of(models.stars.begin(), models.stars.end(), [&](const StarModel& m) {
    return m.row < sky_subtracted.nspec() && m.flux.size() == models.wave.size();
  });
  const bool fits =
      options.flat_to_psf.empty() || options.flat_to_psf.size() == sky_subtracted.nspec();
  if (sky_subtracted.resolution.empty() || sky_subtracted.nwave() < 2 || models.wave.size() < 2 ||
      !known || !fits) {
    throw Error(Status::kWrongShape,
                "flux calibration: expected spectra with resolution, models of rows of theirs on "
                "one grid, and FLAT_TO_PSF_FLUX for each spectrum or none");
  }
  return FluxFitting(sky_subtracted, models, options, executor).run();
}

}  // namespace fiberloom::calibrate
