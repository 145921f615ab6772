// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/calibrate/star_fit.hpp"

#include <algorithm>
#include <cmath>

#include "fiberloom/calibrate/bin_means.hpp"
#include "fiberloom/calibrate/running_median.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::calibrate {
namespace {

constexpr std::size_t kThroughputBins = 400;  // of running medians and means
constexpr int kTurns = 3;                     // of mixtures, each about the one before

struct Range {
  double first_aa, last_aa;
};

void mask(std::span<const double> wave, std::span<double> ivar, const Range& range) {
  const auto first = std::lower_bound(wave.begin(), wave.end(), range.first_aa);
  const auto last = std::upper_bound(first, wave.end(), range.last_aa);
  std::fill(ivar.begin() + (first - wave.begin()), ivar.begin() + (last - wave.begin()), 0.0);
}

/// Gas between us and the star absorbs there at a velocity of its own.
void mask_calcium(std::span<const double> wave, std::span<double> ivar) {
  constexpr double kReach = 6;
  for (const double line : {3934.77, 3969.59}) mask(wave, ivar, {line - kReach, line + kReach});
}

/// x / continuum where there is one.
void divide(std::span<double> x, std::span<const double> continuum) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (continuum[i] != 0) x[i] /= continuum[i];
  }
}

/// One star's cameras behind each other: data and weights, divided by the continuum; of each model
/// what a camera sees of it.
class StarFitting {
 public:
  StarFitting(std::span<const StarSpectrum> cameras, const StellarGrid& grid,
              std::span<const std::size_t> models, const StarFitOptions& o, Executor& executor)
      : cameras_(cameras), grid_(grid), models_(models), o_(o), executor_(executor) {
    for (const StarSpectrum& c : cameras) {
      starts_.push_back(n_);
      n_ += c.wave.size();
    }
    starts_.push_back(n_);
  }

  StarFit run() {
    prepare();
    StarFit out;
    out.redshift =
        fit_redshift(moving_, grid_.wave, {grid_.flux.row(canonical()), grid_.wave.size()}, o_);
    see_models(out.redshift);
    NodeFit mixed = best_mixture(out);
    imprint(mixed);
    mixed = best_mixture(out);
    out.chi2_per_dof = mixed.chi2 / static_cast<double>(used_);
    return out;
  }

 private:
  [[nodiscard]] std::span<double> part(std::span<double> all, std::size_t camera) const {
    return all.subspan(starts_[camera], starts_[camera + 1] - starts_[camera]);
  }

  /// What of a camera's part of data or of a model is broad.
  [[nodiscard]] std::vector<double> broad(std::span<const double> x, std::size_t camera,
                                          std::size_t bins) const {
    if (o_.continuum == Continuum::kMedian) return running_median(x, bins);
    const std::span<const double> all(used_ivar_);
    return running_mean(x, all.subspan(starts_[camera], x.size()), bins);
  }

  void prepare() {
    data_.resize(n_), weight_.resize(n_), continuum_.resize(n_), used_ivar_.resize(n_);
    for (std::size_t c = 0; c < cameras_.size(); ++c) prepare_camera(c);
    used_ = static_cast<std::size_t>(
        std::count_if(weight_.begin(), weight_.end(), [](double w) { return w > 0; }));
    if (used_ == 0) {
      throw Error(Status::kNumerical, "standard star: no pixel left to fit, expected some");
    }
  }
  void prepare_camera(std::size_t c) {
    const StarSpectrum& s = cameras_[c];
    const std::vector<double> middle = running_median(s.flux, kContinuumBins);
    std::vector<double> ivar(s.ivar.begin(), s.ivar.end());
    std::vector<double> known = ivar;  // with the model's error
    for (std::size_t i = 0; i < known.size(); ++i) {
      const double model = o_.template_error * middle[i];
      if (known[i] > 0) known[i] = 1 / (1 / known[i] + model * model);
    }
    constexpr double kSpike = 3;  // sigma
    for (std::size_t i = 0; i < ivar.size(); ++i) {
      const double v = o_.spikes == SpikeLimit::kNoise ? ivar[i] : known[i];
      ivar[i] = v > 0 && s.flux[i] < middle[i] + kSpike / std::sqrt(v) ? known[i] : 0;
    }
    mask_atmosphere(s.wave, ivar);
    const std::span<double> data = part(data_, c), weight = part(weight_, c);
    std::copy(s.flux.begin(), s.flux.end(), data.begin());
    std::copy(ivar.begin(), ivar.end(), part(used_ivar_, c).begin());
    const std::vector<double> light =
        o_.continuum == Continuum::kMedian ? middle : broad(data, c, kContinuumBins);
    divide(data, light);
    std::copy(light.begin(), light.end(), part(continuum_, c).begin());
    for (std::size_t i = 0; i < ivar.size(); ++i) weight[i] = ivar[i] * light[i] * light[i];
    mask_calcium(s.wave, ivar);
    for_redshift_.push_back(std::move(ivar));
    moving_.push_back({s.wave, s.flux, for_redshift_.back(), s.resolution});
  }

  /// The model that a standard star is most like: its lines are where all others' are.
  [[nodiscard]] std::size_t canonical() const {
    const auto far = [&](std::size_t m) {
      return std::pow(grid_.teff[m] - 6000, 2) + std::pow(grid_.logg[m] - 4, 2) +
             std::pow(grid_.metal[m] + 1.5, 2);
    };
    return *std::min_element(models_.begin(), models_.end(),
                             [&](std::size_t a, std::size_t b) { return far(a) < far(b); });
  }

  void see_models(double redshift) {
    std::vector<BinMeans> means;
    for (const StarSpectrum& c : cameras_) {
      std::vector<double> at_rest;
      for (const double w : c.wave) at_rest.push_back(w / (1 + redshift));
      means.emplace_back(at_rest, grid_.wave);
    }
    seen_ = norm_ = Array2D<double>(models_.size(), n_);
    executor_.run(models_.size(), [&](std::size_t m) {
      std::vector<double> sharp;
      const std::span<const float> flux(grid_.flux.row(models_[m]), grid_.wave.size());
      for (std::size_t c = 0; c < cameras_.size(); ++c) {
        sharp.resize(cameras_[c].wave.size());
        means[c](flux, sharp);
        multiply(cameras_[c].resolution, std::span<const double>(sharp), part(row(seen_, m), c));
      }
      normalise(m);
    });
  }
  static std::span<double> row(Array2D<double>& all, std::size_t m) {
    return {all.row(m), all.cols()};
  }
  void normalise(std::size_t m) {
    for (std::size_t c = 0; c < cameras_.size(); ++c) {
      const std::span<double> seen = part(row(seen_, m), c);
      const std::vector<double> light = broad(seen, c, kContinuumBins);
      divide(seen, light);
      std::copy(light.begin(), light.end(), part(row(norm_, m), c).begin());
    }
  }

  /// The best model's neighbours as the data want them; coefficients into `out`.
  NodeFit best_mixture(StarFit& out) {
    std::vector<double> chi2(models_.size());
    executor_.run(models_.size(), [&](std::size_t m) {
      for (std::size_t i = 0; i < n_; ++i) {
        const double d = data_[i] - seen_(m, i);
        chi2[m] += weight_[i] * d * d;
      }
    });
    const auto best = std::min_element(chi2.begin(), chi2.end()) - chi2.begin();
    nodes_ = nodes_about(grid_, models_, static_cast<std::size_t>(best));
    std::vector<double> shares(nodes_.size(), 0.0);
    for (std::size_t r = 0; r < nodes_.size(); ++r) {
      if (nodes_[r].model == static_cast<std::size_t>(best)) shares[r] = 1;
    }
    NodeFit mixed;
    const int turns = o_.continuum == Continuum::kMean ? kTurns : 1;
    for (int turn = 0; turn < turns; ++turn) {
      mixed = fit_between_nodes(nodes_, products_of_rest(shares));
      shares = mixed.coefficients;
    }
    out.coefficients.assign(models_.size(), 0.0);
    for (std::size_t r = 0; r < nodes_.size(); ++r) {
      out.coefficients[nodes_[r].model] = mixed.coefficients[r];
    }
    return mixed;
  }

  /// Of a mixture sum c M of models' light with continuum sum c K is left D / K_D - sum c M / sum c
  /// K. About shares at which K and that ratio are K_p and p it is sum c (D / K_D - p - K / K_p (M
  /// / K - p)), linear in the shares and without noise but for D's. Mixtures of what was divided
  /// leave sum c (D / K_D - M / K).
  [[nodiscard]] Array2D<double> products_of_rest(std::span<const double> shares) const {
    Array2D<double> a(nodes_.size(), nodes_.size(), 0.0);
    std::vector<double> rest(nodes_.size());
    for (std::size_t i = 0; i < n_; ++i) {
      if (weight_[i] == 0) continue;
      if (o_.continuum == Continuum::kMedian) {
        for (std::size_t r = 0; r < rest.size(); ++r) {
          rest[r] = data_[i] - seen_(nodes_[r].model, i);
        }
      } else {
        leave_of_light(i, shares, rest);
      }
      for (std::size_t r = 0; r < rest.size(); ++r) {
        for (std::size_t k = 0; k <= r; ++k) a(r, k) += weight_[i] * rest[r] * rest[k];
      }
    }
    for (std::size_t r = 0; r < nodes_.size(); ++r) {
      for (std::size_t k = 0; k < r; ++k) a(k, r) = a(r, k);
    }
    return a;
  }

  void leave_of_light(std::size_t i, std::span<const double> shares, std::span<double> rest) const {
    double broad = 0, light = 0;
    for (std::size_t r = 0; r < rest.size(); ++r) {
      const double k = shares[r] * norm_(nodes_[r].model, i);
      broad += k, light += k * seen_(nodes_[r].model, i);
    }
    const double p = broad != 0 ? light / broad : 1;
    for (std::size_t r = 0; r < rest.size(); ++r) {
      const std::size_t m = nodes_[r].model;
      const double more = broad != 0 ? norm_(m, i) / broad : 1;
      rest[r] = data_[i] - p - more * (seen_(m, i) - p);
    }
  }

  /// The continuum leaves something of the spectrograph's throughput in the data: so models are
  /// multiplied by what the first mixture says it is, and divided by their continua again.
  void imprint(const NodeFit& mixed) {
    std::vector<double> model(n_, 0.0), factor(n_);
    for (std::size_t r = 0; r < nodes_.size(); ++r) {
      const std::size_t m = nodes_[r].model;
      for (std::size_t i = 0; i < n_; ++i) {
        model[i] += mixed.coefficients[r] * seen_(m, i) * norm_(m, i);
      }
    }
    for (std::size_t i = 0; i < n_; ++i) factor[i] = data_[i] * continuum_[i];
    for (std::size_t c = 0; c < cameras_.size(); ++c) {
      const std::vector<double> smooth = throughput(part(factor, c), part(model, c), c);
      std::transform(smooth.begin(), smooth.end(), part(factor, c).begin(),
                     [](double v) { return std::max(0.0, v); });
    }
    executor_.run(models_.size(), [&](std::size_t m) {
      for (std::size_t i = 0; i < n_; ++i) seen_(m, i) *= norm_(m, i) * factor[i];
      normalise(m);
    });
  }

  /// What a camera makes of the model's light, smoothed.
  [[nodiscard]] std::vector<double> throughput(std::span<const double> light,
                                               std::span<const double> model,
                                               std::size_t camera) const {
    if (o_.continuum == Continuum::kMean) {
      std::vector<double> out = broad(light, camera, kThroughputBins);
      divide(out, broad(model, camera, kThroughputBins));
      return out;
    }
    std::vector<double> out(light.begin(), light.end());
    divide(out, model);
    return running_median(out, kThroughputBins);
  }

  std::span<const StarSpectrum> cameras_;
  const StellarGrid& grid_;
  std::span<const std::size_t> models_;
  const StarFitOptions& o_;
  Executor& executor_;
  std::vector<std::size_t> starts_;
  std::size_t n_ = 0, used_ = 0;
  std::vector<double> data_, weight_, continuum_, used_ivar_;
  std::vector<std::vector<double>> for_redshift_;
  std::vector<StarSpectrum> moving_;
  Array2D<double> seen_, norm_;  ///< [models][n] divided by the continuum, and the continuum
  std::vector<GridNode> nodes_;
};

}  // namespace

void mask_atmosphere(std::span<const double> wave, std::span<double> ivar) {
  constexpr double kReach = 6, kReddest = 8270;
  constexpr std::array kSkyLines{4047.5, 4359.3, 5462.3, 5578.9, 5891.3,
                                 5897.3, 6301.8, 6365.4, 7823.3, 7855.2};
  constexpr std::array kBands{
      // where the atmosphere takes a hundredth or more
      Range{5881, 5905}, Range{5893, 5913}, Range{5913, 5937}, Range{5933, 5961}, Range{5961, 5981},
      Range{6270, 6331}, Range{6468, 6488}, Range{6477, 6498}, Range{6511, 6531}, Range{6860, 6978},
      Range{6979, 7045}, Range{7034, 7056}, Range{7046, 7067}, Range{7143, 7164}, Range{7154, 7348},
      Range{7339, 7385}, Range{7375, 7397}, Range{7388, 7410}, Range{7584, 7713}, Range{7889, 7912},
      Range{7953, 7976}, Range{8004, 8027}, Range{8092, 8392}};
  for (const double line : kSkyLines) mask(wave, ivar, {line - kReach, line + kReach});
  for (const Range& band : kBands) mask(wave, ivar, band);
  const auto first = std::upper_bound(wave.begin(), wave.end(), kReddest);
  std::fill(ivar.begin() + (first - wave.begin()), ivar.end(), 0.0);
}

StarFit fit_star(std::span<const StarSpectrum> cameras, const StellarGrid& grid,
                 std::span<const std::size_t> models, const StarFitOptions& options,
                 Executor& executor) {
  if (models.empty() || cameras.empty()) {
    throw Error(Status::kWrongShape,
                "standard star: no model or no spectrum, expected one of each at least");
  }
  return StarFitting(cameras, grid, models, options, executor).run();
}

}  // namespace fiberloom::calibrate
