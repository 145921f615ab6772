// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/calibrate/fiber_flat.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "fiberloom/calibrate/deconvolution.hpp"
#include "fiberloom/calibrate/medians.hpp"
#include "fiberloom/calibrate/spline.hpp"
#include "fiberloom/calibrate/usable.hpp"
#include "fiberloom/calibrate/wide_loops.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::calibrate {
namespace {

/// Pixels of one fibre that a smooth flat goes through, weighed by the square of their ivar as by
/// desispec; 0: left out. The ivar itself was tried: no nearer to the truth.
struct Points {
  explicit Points(std::size_t n) : y(n, 0.0), weight(n, 0.0) {}
  std::vector<double> y, weight;
  std::size_t count = 0;
  void set(std::size_t i, double value, double ivar) {
    y[i] = value;
    weight[i] = ivar * ivar;
    ++count;
  }
};

/// The three passes; each leaves `ivar_`, `smooth_` and `mean_` for the next.
class FlatFitting {
 public:
  FlatFitting(const Spectra& lamp, char band, const FiberFlatOptions& options, Executor& executor)
      : lamp_(lamp),
        o_(options),
        executor_(executor),
        nspec_(lamp.nspec()),
        n_(lamp.nwave()),
        flux_(nspec_, n_),
        given_(usable_ivar(lamp, Purpose::kFlat, band)),
        ivar_(given_),
        smooth_(nspec_, n_, 1.0),
        previous_(nspec_, n_, 0.0),
        mean_(n_, 0.0),
        bad_(nspec_, 0),
        fine_(lamp.wave, options.spacing_aa),
        coarse_(lamp.wave, 1.5 * options.spacing_aa) {
    for (std::size_t i = 0; i < flux_.size(); ++i) {
      const double f = lamp.flux.data()[i];
      flux_.data()[i] = std::isfinite(f) ? f : 0;
      if (f < 0) ivar_.data()[i] = 0;
    }
  }

  FiberFlatFit run() {
    drop_what_is_far_off();
    clip();
    for (out_.iterations = 1; !converged() && out_.iterations < o_.most_iterations;) {
      ++out_.iterations;
    }
    finish();
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::span<double> ivar(std::size_t s) { return ivar_.view().row_span(s); }
  void forget(std::size_t s) { std::fill_n(ivar_.row(s), n_, 0.0); }

  /// Pass 0: against the median fibre.
  void drop_what_is_far_off() {
    for (int iteration = 0; iteration < o_.most_iterations; ++iteration) {
      column_medians(flux_, ivar_, mean_, executor_);
      std::vector<std::size_t> dropped(nspec_, 0);
      executor_.run(nspec_, [&](std::size_t s) {
        for (std::size_t i = 0; i < n_; ++i) {
          const bool off = flux_(s, i) < o_.least * mean_[i] || flux_(s, i) > o_.most * mean_[i];
          if (!off || !(ivar_(s, i) > 0)) continue;
          ivar_(s, i) = 0;
          ++dropped[s];
        }
        bad_[s] += dropped[s];
        if (bad_[s] >= o_.most_bad) forget(s);
      });
      if (std::all_of(dropped.begin(), dropped.end(), [](std::size_t d) { return d == 0; })) {
        median_is_here_ = iteration == 0;
        break;
      }
    }
  }

  /// Pass 1: smooth flats of D / M with M the median fibre, until no pixel stands out.
  void clip() {
    for (int iteration = 0; iteration < o_.most_iterations; ++iteration) {
      if (!std::exchange(median_is_here_, false)) {
        std::fill(mean_.begin(), mean_.end(), 0.0);
        column_medians(flux_, ivar_, mean_, executor_);
      }
      std::vector<std::size_t> dropped(nspec_, 0);
      executor_.run(nspec_, [&](std::size_t s) {
        if (!any_above_zero(ivar(s))) return;
        if (!smooth(s, mean_)) return forget(s);
        dropped[s] = clip_fiber(s);
      });
      if (std::all_of(dropped.begin(), dropped.end(), [](std::size_t d) { return d == 0; })) break;
    }
    normalise();
  }

  std::size_t clip_fiber(std::size_t s) {
    std::vector<std::pair<double, std::size_t>> out;
    for (std::size_t i = 0; i < n_; ++i) {
      const double r = flux_(s, i) - mean_[i] * smooth_(s, i), chi2 = ivar_(s, i) * r * r;
      if (chi2 > o_.clip_nsig * o_.clip_nsig) out.emplace_back(chi2, i);
    }
    if (out.size() > o_.at_a_time) {
      std::sort(out.begin(), out.end());
      out.erase(out.begin(), out.end() - static_cast<std::ptrdiff_t>(o_.at_a_time));
    }
    for (const auto& [chi2, i] : out) ivar_(s, i) = 0;
    bad_[s] += out.size();
    if (bad_[s] >= o_.most_bad) forget(s);
    return out.size();
  }

  /// The smooth flat of a fibre, of D / model; false where there is none.
  bool smooth(std::size_t s, std::span<const double> model) {
    Points points(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      if (model[i] == 0 || !(ivar_(s, i) > 0)) continue;
      points.set(i, flux_(s, i) / model[i], ivar_(s, i) * model[i] * model[i]);
    }
    auto flat = fine_.fit(points.y, points.weight);
    if (!flat) flat = coarse_.fit(points.y, points.weight);
    if (!flat) return false;
    std::copy(flat->begin(), flat->end(), smooth_.row(s));
    return true;
  }

  /// The median fibre has a flat of 1.
  void normalise() {
    std::vector<double> middle(n_, 1.0);
    column_medians(smooth_, ivar_, middle, executor_);
    for (std::size_t s = 0; s < nspec_; ++s) {
      for (std::size_t i = 0; i < n_; ++i) {
        if (middle[i] != 0) smooth_(s, i) /= middle[i];
      }
    }
  }

  /// Pass 2, one iteration: M of the smooth flats, smooth flats of M. True when they have settled.
  bool converged() {
    std::vector<Sighting> fibers;
    for (std::size_t s = 0; s < nspec_; ++s) {
      if (!any_above_zero(ivar(s))) continue;
      fibers.push_back({banded(lamp_.resolution, s), flux_.view().row_span(s), ivar(s),
                        smooth_.view().row_span(s)});
    }
    if (fibers.empty()) {
      throw Error(Status::kNumerical,
                  "fibre flat: no fibre with light, expected one at least with ivar > 0 that "
                  "FIBERSTATUS does not forbid");
    }
    mean_ = solve(normal_equations(n_, 0, fibers, executor_), {}, WithCovariance::kNo).value;
    std::vector<double> chi2(nspec_, 0.0);
    executor_.run(nspec_, [&](std::size_t s) { chi2[s] = smooth_with_mean(s); });
    normalise();
    double change = 0, sum = 0, good = 0;
    for (std::size_t i = 0; i < smooth_.size(); ++i) {
      if (ivar_.data()[i] > 0) {
        ++good;
        change = std::max(change, std::abs(smooth_.data()[i] - previous_.data()[i]));
      }
      previous_.data()[i] = smooth_.data()[i];
    }
    for (const double c : chi2) sum += c;
    const double knots = static_cast<double>(n_) / o_.spacing_aa;
    const double dof = good - static_cast<double>(n_) - static_cast<double>(nspec_) * knots;
    out_.chi2_per_dof = dof > 0 ? sum / dof : 0;
    const bool settled = change < o_.accuracy;
    const bool stuck = std::abs(change - last_change_) < 0.1 * o_.accuracy;
    last_change_ = change;
    return settled || stuck;
  }

  /// Returns chi2 of the fibre.
  double smooth_with_mean(std::size_t s) {
    if (!any_above_zero(ivar(s))) return 0;
    std::vector<double> model(n_);
    multiply_wide(banded(lamp_.resolution, s), mean_, model);
    bool any = false;
    for (std::size_t i = 0; i < n_ && !any; ++i) any = model[i] != 0 && ivar_(s, i) > 0;
    if (!any) return 0;
    if (smooth(s, model)) {
      for (std::size_t i = 0; i < n_; ++i) {
        if (!(ivar_(s, i) * model[i] * model[i] > 0)) smooth_(s, i) = 0;
      }
    } else {
      forget(s);
    }
    double chi2 = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      const double r = flux_(s, i) - smooth_(s, i) * model[i];
      chi2 += ivar_(s, i) * r * r;
    }
    return chi2;
  }

  /// Pass 3: F = D / (R M) of all pixels that were given, the worst against a smooth flat masked.
  void finish() {
    out_.wave = lamp_.wave;
    out_.mean = mean_;
    out_.fibermap = lamp_.fibermap;
    out_.flat = std::move(smooth_);  // fresh memory costs more than what is done to it
    out_.ivar = std::move(previous_);
    std::fill_n(out_.flat.data(), out_.flat.size(), 1.0);
    std::fill_n(out_.ivar.data(), out_.ivar.size(), 0.0);
    out_.mask = Array2D<std::uint32_t>(nspec_, n_, 0U);
    std::vector<std::size_t> rejected(nspec_, 0);
    executor_.run(nspec_, [&](std::size_t s) {
      if (any_above_zero(given_.view().row_span(s))) rejected[s] = divide(s);
    });
    median_to_one();
    executor_.run(nspec_, [&](std::size_t s) {
      if (any_above_zero(given_.view().row_span(s))) bridge(s);
    });
    median_to_one();
    for (std::size_t s = 0; s < nspec_; ++s) {
      out_.rejected += rejected[s];
      if (!any_above_zero(given_.view().row_span(s))) ++out_.lost_fibers;
    }
    for (std::size_t i = 0; i < out_.flat.size(); ++i) {
      double& v = out_.ivar.data()[i];
      if (v > 0) {
        v = 1 / (1 / v + o_.systematic * o_.systematic);
      } else {
        out_.mask.data()[i] |= kBadFiberFlat;
      }
    }
  }

  /// Returns how many pixels were masked.
  std::size_t divide(std::size_t s) {
    std::vector<double> model(n_);
    multiply_wide(banded(lamp_.resolution, s), mean_, model);
    double* flat = out_.flat.row(s);
    double* ivar = out_.ivar.row(s);
    for (std::size_t i = 0; i < n_; ++i) {
      flat[i] = model[i] != 0 ? flux_(s, i) / model[i] : 1;
      ivar[i] = given_(s, i) * model[i] * model[i];
    }
    constexpr std::size_t kFewest = 100, kMost = 500;
    std::size_t masked = 0;
    while (masked < kMost) {
      Points points(n_);
      for (std::size_t i = 0; i < n_; ++i) {
        if (ivar[i] > 0) points.set(i, flat[i], ivar[i]);
      }
      if (points.count < kFewest) break;
      const auto smooth = fine_.fit(points.y, points.weight);
      if (!smooth) {
        std::fill_n(out_.mask.row(s), n_, kBadFiberFlat);
        std::fill_n(ivar, n_, 0.0);
        break;
      }
      std::size_t worst = n_;
      double most = o_.clip_nsig * o_.clip_nsig;
      for (std::size_t i = 0; i < n_; ++i) {
        const double r = flat[i] - (*smooth)[i], chi2 = ivar[i] * r * r;
        if (chi2 > most) most = chi2, worst = i;
      }
      if (worst == n_) break;
      out_.mask(s, worst) |= kBadFiberFlat;
      ivar[worst] = 0;
      ++masked;
    }
    return masked;
  }

  void median_to_one() {
    if (o_.median == MedianOf::kSmooth) return;
    for (std::size_t i = 0; i < ivar_.size(); ++i) {  // whose work is done
      ivar_.data()[i] = out_.mask.data()[i] != 0 ? 0 : given_.data()[i];
    }
    std::vector<double> middle(n_, 1.0);
    column_medians(out_.flat, ivar_, middle, executor_);
    for (std::size_t s = 0; s < nspec_; ++s) {
      for (std::size_t i = 0; i < n_; ++i) {
        if (middle[i] != 0) out_.flat(s, i) /= middle[i];
      }
    }
  }

  /// Holes get what a spline as coarse as the longest of them says.
  void bridge(std::size_t s) {
    double* flat = out_.flat.row(s);
    double* ivar = out_.ivar.row(s);
    std::vector<std::size_t> holes;
    std::size_t run = 0, longest = 0;
    std::vector<double> bins(n_), x, y, weight;
    for (std::size_t i = 0; i < n_; ++i) {
      bins[i] = static_cast<double>(i);
      const bool hole =
          out_.mask(s, i) != 0 || !(ivar[i] > 0) || flat[i] < o_.least || flat[i] > o_.most;
      run = hole ? run + 1 : 0;
      longest = std::max(longest, run);
      if (hole) holes.push_back(i), ivar[i] = 0;
      if (!hole) x.push_back(bins[i]), y.push_back(flat[i]), weight.push_back(ivar[i] * ivar[i]);
    }
    if (holes.empty() || x.empty()) return;
    constexpr std::size_t kCoarse = 100;  // bins
    const auto spline =
        fit_spline(bins, x, y, weight, static_cast<double>(std::max(kCoarse, longest)));
    for (const std::size_t i : holes) flat[i] = spline ? (*spline)[i] : 1;
  }

  const Spectra& lamp_;
  const FiberFlatOptions& o_;
  Executor& executor_;
  std::size_t nspec_, n_;
  Array2D<double> flux_, given_, ivar_, smooth_, previous_;
  std::vector<double> mean_;
  std::vector<std::size_t> bad_;
  SplineOnGrid fine_, coarse_;
  double last_change_ = 0;
  bool median_is_here_ = false;  ///< mean_ is what pass 1 would begin with
  FiberFlatFit out_;
};

/// What the spectrograph's flat is at wavelengths that were multiplied by heliocor.
void shift_flat(std::span<double> flat, std::span<const double> ivar, std::span<const double> wave,
                double heliocor) {
  std::vector<double> x, y;
  for (std::size_t i = 0; i < flat.size(); ++i) {
    if (ivar[i] > 0) x.push_back(wave[i] * heliocor), y.push_back(flat[i]);
  }
  if (x.empty()) return;
  std::size_t above = 0;  // of x; both grow
  for (std::size_t i = 0; i < flat.size(); ++i) {
    while (above < x.size() && x[above] <= wave[i]) ++above;
    const std::size_t first = above > 0 ? above - 1 : 0;
    const std::size_t n = std::min(above + 1, x.size()) - first;  // 1 at the ends
    flat[i] = interpolate(std::span(x).subspan(first, n), std::span(y).subspan(first, n), wave[i]);
  }
}

}  // namespace

FiberFlatOptions desispec_fiber_flat() {
  FiberFlatOptions o;
  o.median = MedianOf::kPixels;
  return o;
}

FiberFlatFit compute_fiber_flat(const Spectra& lamp, char band, const FiberFlatOptions& options,
                                Executor& executor) {
  if (lamp.resolution.empty() || lamp.nspec() == 0) {
    throw Error(Status::kWrongShape, "fibre flat: spectra without resolution, expected a frame");
  }
  return FlatFitting(lamp, band, options, executor).run();
}

void apply_fiber_flat(Spectra& spectra, const FiberFlat& flat, double heliocor) {
  require_same_grid("fibre flat", flat.wave, flat.flat.rows(), spectra);
  const std::size_t n = spectra.nwave();
  if (spectra.mask.empty()) spectra.mask = Array2D<std::uint32_t>(spectra.nspec(), n, 0U);
  std::vector<double> c(n);
  for (std::size_t s = 0; s < spectra.nspec(); ++s) {
    std::copy_n(flat.flat.row(s), n, c.begin());
    const std::span<const double> c_ivar{flat.ivar.row(s), n};
    if (heliocor != 1) shift_flat(c, c_ivar, flat.wave, heliocor);
    for (std::size_t i = 0; i < n; ++i) {
      double& f = spectra.flux(s, i);
      double& v = spectra.ivar(s, i);
      const double c2 = c[i] * c[i];
      const bool known =
          std::isfinite(c[i]) && std::isfinite(c_ivar[i]) && c[i] > 0 && c_ivar[i] > 0;
      v = known && v > 0 ? 1 / (1 / (v * c2) + f * f / (c_ivar[i] * c2 * c2)) : 0;
      if (c[i] > 0) f /= c[i];
      if (!known || flat.mask(s, i) != 0) spectra.mask(s, i) |= kBadFiberFlat;
    }
  }
}

}  // namespace fiberloom::calibrate
