// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/redshift/probability.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fiberloom::redshift {
namespace {

/// A piece of the posterior.
struct Mass {
  std::size_t curve;
  double z, log_mass;
  double sigma;  ///< a peak's own width in z; 0: a point of a sum, whose neighbours tell the width
};

/// Priors of types and redshifts, as densities in z for one template.
class RedshiftPrior {
 public:
  RedshiftPrior(std::span<const Curve> curves, const ProbabilityOptions& options)
      : curves_(curves), options_(options) {}

  [[nodiscard]] double log_density(std::size_t curve, double z) const {
    const std::string& type = type_of(curve);
    double templates = 0, low = HUGE_VAL, high = -1;
    for (std::size_t k = 0; k < curves_.size(); ++k) {
      const Curve& c = curves_[k];
      if (c.z.empty() || type_of(k) != type) continue;
      low = std::min(low, c.z.front());
      high = std::max(high, c.z.back());
      if (z >= c.z.front() && z <= c.z.back()) templates += 1;
    }
    double density = 0;
    if (type == "STAR") {
      const double sigma = options_.star_kms / kLightKms, t = z / sigma;
      density = -0.5 * t * t - std::log(sigma * std::sqrt(2 * std::numbers::pi));
    } else {
      density = -std::log1p(z) - std::log(std::max(std::log((1 + high) / (1 + low)), 1e-12));
    }
    return std::log(share(type)) - std::log(std::max(templates, 1.0)) + density;
  }

 private:
  [[nodiscard]] const std::string& type_of(std::size_t curve) const {
    return curves_[curve].fitter->source().spectype;
  }
  [[nodiscard]] double share(const std::string& type) const {
    if (type == "GALAXY") return options_.galaxy;
    if (type == "QSO") return options_.qso;
    if (type == "STAR") return options_.star;
    return options_.other;
  }
  std::span<const Curve> curves_;
  const ProbabilityOptions& options_;
};

/// Half the distance between the neighbours of point i.
double step_at(std::span<const double> z, std::size_t i) {
  if (z.size() < 2) return 0;
  const std::size_t low = i == 0 ? 0 : i - 1, high = std::min(i + 1, z.size() - 1);
  return 0.5 * (z[high] - z[low]) * (i == 0 || i + 1 == z.size() ? 2 : 1);
}

std::size_t nearest(std::span<const double> z, double x) {
  const auto above = std::lower_bound(z.begin(), z.end(), x);
  if (above == z.end()) return z.size() - 1;
  const auto i = static_cast<std::size_t>(above - z.begin());
  return i > 0 && x - z[i - 1] < z[i] - x ? i - 1 : i;
}

/// Steps of the scan around a narrow peak that its own integral stands for.
constexpr double kReplaced = 1.5;

/// Is a peak too narrow for a scan? A sum at steps of 2 sigma has a Gaussian to 1 %.
bool is_narrow(const Candidate& c, std::span<const double> z) {
  return c.zerr < 0.5 * step_at(z, nearest(z, c.z));
}

/// The steps that candidate `c` was seen in: those of a close look, where one was taken.
std::span<const double> steps_around(const Candidate& c, std::span<const Curve> curves,
                                     std::span<const CloseScan> close) {
  const auto scan = std::find_if(close.begin(), close.end(),
                                 [&](const CloseScan& s) { return s.holds(c.curve, c.z); });
  return scan == close.end() ? std::span<const double>(curves[c.curve].z) : scan->z;
}

/// All that the sums are made of.
class Posterior {
 public:
  Posterior(std::span<const Curve> curves, const Prior& prior, const ProbabilityOptions& options)
      : curves_(curves), prior_(prior), redshifts_(curves, options) {}

  void add_peak(const Candidate& c) {
    masses_.push_back({c.curve, c.z,
                       c.evidence + outside(c.curve, c.z) +
                           std::log(std::max(c.zerr, 1e-12) * std::sqrt(2 * std::numbers::pi)),
                       c.zerr});
    ++peaks_;
  }
  /// The points of a scan, but for those that peaks stand for.
  template <class Evidence, class Skip>
  void add_scan(std::size_t curve, std::span<const double> z, const Evidence& evidence,
                const Skip& skip) {
    for (std::size_t i = 0; i < z.size(); ++i) {
      const double step = step_at(z, i);
      const bool replaced =
          std::any_of(masses_.begin(), masses_.begin() + static_cast<std::ptrdiff_t>(peaks_),
                      [&](const Mass& peak) {
                        return peak.curve == curve && std::abs(peak.z - z[i]) < kReplaced * step;
                      });
      if (replaced || skip(z[i])) continue;
      const double mass = evidence(i) + outside(curve, z[i]) + std::log(std::max(step, 1e-12));
      if (std::isfinite(mass)) masses_.push_back({curve, z[i], mass, 0});
    }
  }
  [[nodiscard]] std::vector<Mass> masses() && { return std::move(masses_); }

 private:
  /// What is known without the spectrum.
  [[nodiscard]] double outside(std::size_t curve, double z) const {
    return redshifts_.log_density(curve, z) - 0.5 * prior_chi2(prior_, z);
  }
  std::span<const Curve> curves_;
  const Prior& prior_;
  RedshiftPrior redshifts_;
  std::vector<Mass> masses_;
  std::size_t peaks_ = 0;
};

std::vector<Mass> masses_of(std::size_t target, std::span<const Curve> curves, const Prior& prior,
                            const ProbabilityOptions& options, std::span<const CloseScan> close,
                            std::span<const Candidate> candidates) {
  Posterior posterior(curves, prior, options);
  const auto looked_at = [&](std::size_t k, double z) {
    return std::any_of(close.begin(), close.end(),
                       [&](const CloseScan& s) { return s.holds(k, z); });
  };
  for (const Candidate& c : candidates) {
    if (curves[c.curve].z.empty()) continue;
    if (is_narrow(c, steps_around(c, curves, close))) posterior.add_peak(c);
  }
  for (std::size_t k = 0; k < curves.size(); ++k) {
    posterior.add_scan(
        k, curves[k].z, [&](std::size_t i) { return curves[k].evidence(target, i); },
        [&](double z) { return looked_at(k, z); });
  }
  for (std::size_t s = 0; s < close.size(); ++s) {  // where two overlap the first counts
    posterior.add_scan(
        close[s].curve, close[s].z, [&](std::size_t i) { return close[s].evidence[i]; },
        [&](double z) {
          return std::any_of(close.begin(), close.begin() + static_cast<std::ptrdiff_t>(s),
                             [&](const CloseScan& o) { return o.holds(close[s].curve, z); });
        });
  }
  return std::move(posterior).masses();
}

}  // namespace

void set_probabilities(std::size_t target, std::span<const Curve> curves, const Prior& prior,
                       const ProbabilityOptions& options, std::span<const CloseScan> close,
                       std::span<Candidate> candidates) {
  std::vector<Mass> masses = masses_of(target, curves, prior, options, close, candidates);
  for (Candidate& c : candidates) c.posterior_zerr = c.zerr;  // where nothing has a probability
  if (masses.empty()) return;
  double most = -HUGE_VAL, total = 0;
  for (const Mass& m : masses) most = std::max(most, m.log_mass);
  std::erase_if(masses, [most](const Mass& m) { return m.log_mass < most - 60; });
  for (Mass& m : masses) total += std::exp(m.log_mass - most);
  for (Candidate& c : candidates) {
    double of_class = 0, here = 0, second = 0;
    for (const Mass& m : masses) {
      if (curves[m.curve].fitter->source().spectype != c.spectype) continue;
      const double share = std::exp(m.log_mass - most) / total;
      of_class += share;
      if (std::abs(velocity_kms(m.z, c.z)) > options.window_of(c.spectype)) continue;
      here += share;
      second += share * ((m.z - c.z) * (m.z - c.z) + m.sigma * m.sigma);
    }
    c.probability = std::min(here, 1.0);
    c.class_probability = std::min(of_class, 1.0);
    c.posterior_zerr = here > 0 ? std::sqrt(second / here) : c.zerr;
    // what the steps resolve needs no such floor: it may be narrower than chi2 alone says, where
    // something is known beforehand
    const std::span<const double> steps = steps_around(c, curves, close);
    if (steps.empty() || is_narrow(c, steps)) {
      c.posterior_zerr = std::max(c.posterior_zerr, c.zerr);
    }
  }
}

}  // namespace fiberloom::redshift
