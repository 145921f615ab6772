// SPDX-License-Identifier: BSD-3-Clause
// kLanes redshifts are evaluated at once, so a minimum is closed in eight points at a time: 414
// km/s of a galaxy's bracket become 104, 26 and 6.5, a parabola says where between them, and of
// likely ones steps by the last points' slope do the rest.
#include "fiberloom/redshift/refine.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace fiberloom::redshift {
namespace {

/// A minimum being closed in.
struct Basin {
  std::size_t curve = 0, at = 0;  ///< where the scan has it
  double low = 0, high = 0;       ///< bracket
  double z = 0, value = 0;        ///< best so far, chi2 with penalty and prior
  double width = 0;               ///< sigma from the curvature
};

struct Evaluation {
  ZPack z{}, value{};
  PackFit fit;
};

/// Whether the end of a minimum is looked for to kSettledKms.
enum class Settle { kNo, kYes };

class Refiner {
 public:
  Refiner(const PreparedTarget& target, std::span<const Curve> curves, const Prior& prior)
      : target_(target), curves_(curves), prior_(prior) {
    std::size_t most = 0;
    for (const Curve& c : curves) most = std::max(most, c.fitter->part_doubles());
    part_ = Buffer<double>(most);
  }

  Evaluation evaluate(std::size_t curve, const ZPack& z) {
    Evaluation e;
    e.z = z;
    const Fitter& fitter = *curves_[curve].fitter;
    fitter.fit(target_, e.z, {part_.data(), part_.size()}, e.fit);
    for (std::size_t i = 0; i < z.size(); ++i) {
      e.value[i] = e.fit.chi2[i] + e.fit.penalty[i] + prior_chi2(prior_, z[i]);
    }
    return e;
  }

  /// Eight points over the bracket, which becomes the neighbourhood of the lowest.
  void close_in(Basin& b) {
    ZPack z;
    const double step = (b.high - b.low) / static_cast<double>(z.size());
    for (std::size_t i = 0; i < z.size(); ++i) {
      z[i] = b.low + step * (static_cast<double>(i) + 0.5);
    }
    narrow(b, z, evaluate(b.curve, z).value, step);
  }

  /// The same with four points each, for two minima of one template.
  void look_at(Basin& a, Basin& b) {
    constexpr std::size_t kEach = kLanes / 2;
    ZPack z;
    const double step_a = (a.high - a.low) / (kEach + 1), step_b = (b.high - b.low) / (kEach + 1);
    for (std::size_t i = 0; i < kEach; ++i) {
      z[i] = a.low + step_a * static_cast<double>(i + 1);
      z[kEach + i] = b.low + step_b * static_cast<double>(i + 1);
    }
    const ZPack value = evaluate(a.curve, z).value;
    narrow(a, std::span(z).first(kEach), std::span(value).first(kEach), step_a);
    if (&a != &b) narrow(b, std::span(z).last(kEach), std::span(value).last(kEach), step_b);
  }

  /// Everything within `reach_kms` of a candidate, at points at most `step_kms` apart.
  [[nodiscard]] CloseScan look_closely(const Candidate& c, double reach_kms, double step_kms,
                                       Basin& lowest);

  /// `rounds` of closing in, then all that is reported.
  [[nodiscard]] Candidate finish(Basin b, int rounds, Settle settle);

 private:
  static void narrow(Basin& b, std::span<const double> z, std::span<const double> value,
                     double step) {
    const auto i =
        static_cast<std::size_t>(std::min_element(value.begin(), value.end()) - value.begin());
    b.z = z[i];
    b.value = value[i];
    const std::size_t middle = std::clamp<std::size_t>(i, 1, z.size() - 2);
    const Parabola p = parabola(std::span<const double, 3>(z.data() + middle - 1, 3),
                                std::span<const double, 3>(value.data() + middle - 1, 3));
    if (p.good) b.width = p.width;
    b.low = std::max(b.low, b.z - step);
    b.high = std::min(b.high, b.z + step);
    if (p.good && p.x0 > b.low && p.x0 < b.high) b.z = p.x0;
  }

  const PreparedTarget& target_;
  std::span<const Curve> curves_;
  Prior prior_;
  Buffer<double> part_;
};

/// Minima that are closed in to the last: the others are known to a few km/s.
constexpr std::size_t kLikely = 3;

/// Steps of a close look to either side: 36 km/s for galaxies, since no line is narrower than the
/// cameras see it, and 107 for quasars.
constexpr double kCloseSteps = 28;
/// A candidate known better than this has no second peak that noise could have made: what makes z
/// that sure rises far above any noise over the width of a line. But where a bright [OII] makes it
/// that sure, one line of the doublet on the other's place is a valley too, 220 km/s away.
constexpr double kSureKms = 6, kDoubletKms = 260;
/// A scan in finer steps has seen all there is: stars'.
constexpr double kLeastStepKms = 35;
/// Less probable candidates are not looked at closely.
constexpr double kLeastProbability = 0.01;

CloseScan Refiner::look_closely(const Candidate& c, double reach_kms, double step_kms,
                                Basin& lowest) {
  const Curve& curve = curves_[c.curve];
  const double to_z = (1 + c.z) / kLightKms;
  const double low = std::max(c.z - reach_kms * to_z, curve.z.front());
  const double high = std::min(c.z + reach_kms * to_z, curve.z.back());
  const double steps = (high - low) / (step_kms * to_z);
  const auto packs = static_cast<std::size_t>(std::ceil((steps + 1) / kLanes));
  const std::size_t n = packs * kLanes;
  const double step = (high - low) / static_cast<double>(n - 1);
  CloseScan out{c.curve, {}, {}};
  lowest = {.curve = c.curve, .z = c.z, .value = HUGE_VAL};
  for (std::size_t p = 0; p < packs; ++p) {
    ZPack z;
    for (std::size_t i = 0; i < z.size(); ++i) {
      z[i] = low + step * static_cast<double>(p * kLanes + i);
    }
    const Evaluation e = evaluate(c.curve, z);
    for (std::size_t i = 0; i < z.size(); ++i) {
      out.z.push_back(z[i]);
      out.evidence.push_back(e.fit.evidence[i]);
      if (e.value[i] >= lowest.value) continue;
      lowest.z = z[i];
      lowest.value = e.value[i];
    }
  }
  lowest.low = std::max(lowest.z - step, curve.z.front());
  lowest.high = std::min(lowest.z + step, curve.z.back());
  return out;
}

/// Distances of the last points from the middle, in sigma.
constexpr std::array kReach{0.0, -0.5, 0.5, -1.0, 1.0, -2.0, 2.0, 0.0};

/// Where chi2 has risen by 1 on one side, from points at increasing distance: sqrt(rise) is
/// straight for a parabola, so it is interpolated; NaN where it does not rise that far.
double distance_of_rise(std::span<const double> distance, std::span<const double> rise) {
  double d0 = 0, r0 = 0;
  for (std::size_t i = 0; i < distance.size(); ++i) {
    const double r1 = std::sqrt(std::max(rise[i], 0.0));
    if (r1 >= 1) return d0 + (distance[i] - d0) * (1 - r0) / (r1 - r0);
    d0 = distance[i];
    r0 = r1;
  }
  return r0 > 0 ? d0 / r0 : std::nan("");  // the last chord, carried on
}

/// Half the interval in which chi2 stays within 1 of the minimum.
double error_of(const Evaluation& e) {
  const double z0 = e.z[0], best = e.value[0];
  const auto side = [&](std::array<std::size_t, 3> lanes) {
    std::array<double, 3> distance, rise;
    for (std::size_t i = 0; i < 3; ++i) {
      distance[i] = std::abs(e.z[lanes[i]] - z0);
      rise[i] = e.value[lanes[i]] - best;
    }
    return distance_of_rise(distance, rise);
  };
  const double below = side({1, 3, 5}), above = side({2, 4, 6});
  if (std::isnan(below)) return above;
  if (std::isnan(above)) return below;
  return 0.5 * (below + above);
}

/// From the first of kReach's points to where the curve through five of them has its lowest; 0
/// where they are no valley. A parabola through three would be off by what makes chi2 lopsided.
double step_to_lowest(const Evaluation& e, double width) {
  const ZPack& v = e.value;
  const double h = 0.5 * width;
  const double slope = (v[3] - 8 * v[1] + 8 * v[2] - v[4]) / (12 * h);
  const double bend = (-v[3] + 16 * v[1] - 30 * v[0] + 16 * v[2] - v[4]) / (12 * h * h);
  if (!(bend > 0)) return 0;
  return std::clamp(-slope / bend, -h, h);
}

/// A minimum stands still within so much, or such a share of its width.
constexpr double kSettledKms = 0.05, kSettledShare = 0.01;

Candidate Refiner::finish(Basin b, int rounds, Settle settle) {
  const Curve& curve = curves_[b.curve];
  const Template& source = curve.fitter->source();
  const std::size_t n = curve.z.size();
  for (int round = 0; round < rounds; ++round) close_in(b);
  if (b.width == 0) b.width = 0.5 * (b.high - b.low);  // no valley was seen
  const double floor = 1e-9 * (1 + b.z);  // 0.3 m/s: chi2 of a brighter source is noise below
  b.width = std::clamp(b.width, floor, 0.01 * (1 + b.z));
  const auto around = [&](double middle) {
    ZPack z;
    for (std::size_t i = 0; i < z.size(); ++i) {
      z[i] = std::clamp(middle + kReach[i] * b.width, curve.z.front(), curve.z.back());
    }
    return evaluate(b.curve, z);
  };
  Evaluation e = around(b.z);
  for (int attempt = 0; attempt < 3; ++attempt) {
    const auto lowest = static_cast<std::size_t>(std::min_element(e.value.begin(), e.value.end()) -
                                                 e.value.begin());
    if (!(e.value[lowest] < e.value[0] - 1e-3)) break;
    e = around(e.z[lowest]);
  }
  const double settled = std::max(kSettledKms / kLightKms * (1 + b.z), kSettledShare * b.width);
  for (int attempt = 0; settle == Settle::kYes && attempt < 3; ++attempt) {
    const double step = step_to_lowest(e, b.width);
    if (std::abs(step) < settled) break;
    const Evaluation next = around(e.z[0] + step);
    if (!(next.value[0] < e.value[0])) break;  // chi2 has a kink there
    e = next;
  }
  Candidate c;
  c.curve = b.curve;
  c.spectype = source.spectype;
  c.subtype = source.subtype;
  c.method = name_of(source.method);
  c.z = e.z[0];
  c.chi2 = e.value[0];
  c.evidence = e.fit.evidence[0];
  c.zerr = error_of(e);
  for (std::size_t a = 0; a < source.nbasis(); ++a) {
    c.coefficients.push_back(e.fit.coefficient(a, 0));
  }
  c.good_pixels = target_.good_pixels;
  c.least_separation_kms = source.least_separation_kms();
  c.fine_z.assign(e.z.begin(), e.z.end() - 1);
  c.fine_chi2.assign(e.value.begin(), e.value.end() - 1);
  if (n < 3 || c.z < curve.z[1] || c.z > curve.z[n - 2]) c.zwarn |= zwarn::kFitLimit;
  const bool valley = e.value[5] > e.value[0] && e.value[6] > e.value[0];
  if (!valley || !std::isfinite(c.zerr)) c.zwarn |= zwarn::kBadMinimum;
  if (!std::isfinite(c.zerr)) c.zerr = b.width;
  return c;
}

/// Lowest first; of one template none nearer to a lower one than minima may be; `most` of each
/// spectral type.
void prune(std::vector<Basin>& basins, std::span<const Curve> curves, std::size_t most) {
  std::stable_sort(basins.begin(), basins.end(),
                   [](const Basin& a, const Basin& b) { return a.value < b.value; });
  std::map<std::string, std::size_t> count;
  std::vector<Basin> kept;
  for (const Basin& b : basins) {
    const Template& source = curves[b.curve].fitter->source();
    const bool near = std::any_of(kept.begin(), kept.end(), [&](const Basin& k) {
      return k.curve == b.curve && std::abs(velocity_kms(b.z, k.z)) < source.least_separation_kms();
    });
    if (near || ++count[source.spectype] > most) continue;
    kept.push_back(b);
  }
  basins = std::move(kept);
}

/// chi2 of a fast scan is off by so much of what it is without any model: floats are summed.
constexpr double kScanRounding = 3e-7;

/// `rounding`: of chi2. Where a neighbour's is no higher than that, the valley may be behind it.
std::vector<Basin> basins_of(std::size_t target, std::size_t index, const Curve& curve,
                             const Prior& prior, double rounding) {
  std::vector<double> values(curve.z.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = curve.chi2(target, i) + curve.penalty(target, i) + prior_chi2(prior, curve.z[i]);
  }
  std::vector<Basin> out;
  for (const std::size_t at : find_minima(values)) {
    if (!std::isfinite(values[at])) continue;
    Basin b{.curve = index, .at = at, .z = curve.z[at], .value = values[at]};
    const std::size_t last = values.size() - 1;
    std::size_t low = at == 0 ? 0 : at - 1, high = std::min(at + 1, last);
    if (low > 0 && values[low] < values[at] + rounding) --low;
    if (high < last && values[high] < values[at] + rounding) ++high;
    b.low = curve.z[low];
    b.high = curve.z[high];
    if (at > 0 && at < last) {  // between the points it may be deeper
      const Parabola p = parabola(std::span<const double, 3>(curve.z.data() + at - 1, 3),
                                  std::span<const double, 3>(values.data() + at - 1, 3));
      if (p.good) b.value = std::min(b.value, p.y0);
    }
    out.push_back(b);
  }
  return out;
}

/// Probabilities; likely candidates of templates whose steps are coarse are looked at closely,
/// within a doublet where their errors are small, else within the template's window, and move where
/// that finds something better. With probabilities of chi2 alone nothing is looked at.
void weigh(std::size_t t, std::span<const Curve> curves, const Prior& prior,
           const RefineOptions& options, Refiner& refiner, std::vector<Candidate>& candidates) {
  std::vector<CloseScan> close;
  set_probabilities(t, curves, prior, options.probability, close, candidates);
  if (options.errors == Errors::kChi2) return;
  for (Candidate& c : candidates) {
    const Curve& curve = curves[c.curve];
    const double zerr_kms = kLightKms * c.zerr / (1 + c.z);
    const double step_kms =
        velocity_kms(curve.z.back(), curve.z.front()) / static_cast<double>(curve.z.size());
    if (c.probability < kLeastProbability || step_kms < kLeastStepKms) continue;
    const double window = options.probability.window_of(c.spectype);
    const double reach = zerr_kms < kSureKms ? kDoubletKms : window;
    Basin lowest;
    close.push_back(refiner.look_closely(c, reach, window / kCloseSteps, lowest));
    if (lowest.value < c.chi2 - 1e-3) c = refiner.finish(lowest, 1, Settle::kYes);
  }
  if (!close.empty()) set_probabilities(t, curves, prior, options.probability, close, candidates);
  for (Candidate& c : candidates) c.zerr = c.posterior_zerr;
}

/// A close look may have moved candidates to where a lower one of their template is: the lower
/// stays.
void drop_doubles(std::span<const Curve> curves, std::vector<Candidate>& candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.chi2 < b.chi2; });
  std::vector<Candidate> kept;
  for (Candidate& c : candidates) {
    const double separation = curves[c.curve].fitter->source().least_separation_kms();
    const bool again = std::any_of(kept.begin(), kept.end(), [&](const Candidate& k) {
      return k.curve == c.curve && std::abs(velocity_kms(c.z, k.z)) < separation;
    });
    if (!again) kept.push_back(std::move(c));
  }
  candidates = std::move(kept);
}

std::vector<Candidate> of_target(const TargetSet& set, std::size_t t, std::span<const Curve> curves,
                                 const Prior& prior, const RefineOptions& options) {
  const PreparedTarget& target = set.targets[t];
  const double rounding = kScanRounding * target.weight_flux2;
  std::vector<Basin> basins;
  for (std::size_t k = 0; k < curves.size(); ++k) {
    const std::vector<Basin> more = basins_of(t, k, curves[k], prior, rounding);
    basins.insert(basins.end(), more.begin(), more.end());
  }
  prune(basins, curves, std::max(options.first_look, options.minima));
  Refiner refiner(target, curves, prior);
  std::stable_sort(basins.begin(), basins.end(),
                   [](const Basin& a, const Basin& b) { return a.curve < b.curve; });
  for (std::size_t i = 0; i < basins.size();) {
    const bool pair = i + 1 < basins.size() && basins[i + 1].curve == basins[i].curve;
    refiner.look_at(basins[i], basins[pair ? i + 1 : i]);
    i += pair ? 2 : 1;
  }
  prune(basins, curves, options.minima);
  std::vector<Candidate> out;
  for (std::size_t i = 0; i < basins.size(); ++i) {
    const bool likely = i < kLikely;
    out.push_back(refiner.finish(basins[i], likely ? 2 : 1, likely ? Settle::kYes : Settle::kNo));
  }
  if (curves.front().fitter->has_evidence()) {
    weigh(t, curves, prior, options, refiner, out);
    drop_doubles(curves, out);
  }
  return out;
}

}  // namespace

std::vector<std::vector<Candidate>> refine(const TargetSet& set, std::span<const Curve> curves,
                                           std::span<const Prior> priors,
                                           const RefineOptions& options, Executor& executor) {
  std::vector<std::vector<Candidate>> out(set.targets.size());
  executor.run(set.targets.size(), [&](std::size_t t) {
    if (set.targets[t].good_pixels > 0) {
      out[t] = of_target(set, t, curves, priors.empty() ? Prior{} : priors[t], options);
    }
    const bool bayes = curves.front().fitter->has_evidence();
    if (out[t].empty()) out[t] = {no_fit(set.targets[t], curves.front().fitter->source())};
    rank(out[t], options.minima,
         bayes && options.order == Order::kProbability ? RankBy::kProbability : RankBy::kChi2);
    if (options.lines == WithLines::kNo) return;
    Candidate& best = out[t].front();
    best.lines = line_fluxes(set.targets[t], set.grids, best.z);
    set_quality(best);
  });
  return out;
}

}  // namespace fiberloom::redshift
