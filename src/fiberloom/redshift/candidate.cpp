// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/redshift/candidate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace fiberloom::redshift {
namespace {

/// Another redshift that is not worse by more than this makes a target ambiguous.
constexpr double kLeastDeltaChi2 = 9;
/// Of an order by probability: a best answer that is not likelier than all others together is none.
constexpr double kLeastProbability = 0.5;
/// Fewer pixels than this for each coefficient are too few.
constexpr long kPixelsOfCoefficient = 10;

bool is_good(const Candidate& c) { return (c.zwarn & zwarn::kBadFit) == 0; }

void sort_by_fit(std::vector<Candidate>& candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) {
                     if (is_good(a) != is_good(b)) return is_good(a);
                     return a.chi2 < b.chi2;
                   });
}

/// The velocity of `other` seen from `self`.
double speed(const Candidate& other, const Candidate& self) {
  return std::abs(velocity_kms(other.z, self.z));
}

void set_delta_chi2(std::vector<Candidate>& candidates) {
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    Candidate& self = candidates[i];
    double least = std::numeric_limits<double>::infinity();
    bool ambiguous = false;
    for (std::size_t j = 0; j < candidates.size(); ++j) {
      const Candidate& other = candidates[j];
      if (j == i || !is_good(other)) continue;
      const double limit = std::min(self.least_separation_kms, other.least_separation_kms);
      const double difference = other.chi2 - self.chi2;
      if (j > i && speed(other, self) > limit) least = std::min(least, difference);
      ambiguous |= std::abs(difference) < kLeastDeltaChi2 && speed(other, self) >= limit;
    }
    self.delta_chi2 = std::isfinite(least) ? least : 0;
    if (ambiguous) self.zwarn |= zwarn::kSmallDeltaChi2;
  }
}

/// Ordered by probability the best one may have another of lower chi2, by more than the margin
/// above, or of hardly less probability. One without a valley counts too: it comes after all that
/// have one, but what fits so much better says that the best is not known.
void doubt_best(std::span<Candidate> candidates) {
  Candidate& best = candidates.front();
  if (!is_good(best) || best.good_pixels == 0) return;
  const bool outdone = std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& c) {
    return !is_good(c) && c.chi2 < best.chi2 - kLeastDeltaChi2;
  });
  if (outdone || best.delta_chi2 < 0 || best.probability < kLeastProbability) {
    best.zwarn |= zwarn::kSmallDeltaChi2;
  }
}

}  // namespace

void rank(std::vector<Candidate>& candidates, std::size_t most, RankBy by) {
  for (Candidate& c : candidates) {
    if (c.good_pixels == 0) c.zwarn |= zwarn::kNoData;
    if (c.good_pixels < kPixelsOfCoefficient * static_cast<long>(c.coefficients.size())) {
      c.zwarn |= zwarn::kLittleCoverage;
    }
  }
  sort_by_fit(candidates);
  std::map<std::string, std::size_t> kept;
  std::erase_if(candidates, [&](const Candidate& c) { return ++kept[c.spectype] > most; });
  if (by == RankBy::kProbability) {
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) {
                       if (is_good(a) != is_good(b)) return is_good(a);
                       return a.probability > b.probability;
                     });
  }
  set_delta_chi2(candidates);
  if (by == RankBy::kProbability && !candidates.empty()) doubt_best(candidates);
}

void set_quality(Candidate& c) {
  const bool sure = c.zwarn == 0;
  c.quality = 0;
  if (sure && c.delta_chi2 > 40) c.quality |= quality::kBgs;
  if (sure && c.delta_chi2 > 15 && c.z < 1.5) c.quality |= quality::kLrg;
  if (sure && c.spectype == "QSO") c.quality |= quality::kQso;
  const auto oii = std::find_if(c.lines.begin(), c.lines.end(),
                                [](const LineFlux& line) { return line.name == "OII"; });
  if (oii == c.lines.end() || !(oii->flux > 0) || !(oii->ivar > 0) || !(c.delta_chi2 > 0)) return;
  const double snr = oii->flux * std::sqrt(oii->ivar);
  if (std::log10(snr) > 0.9 - 0.2 * std::log10(c.delta_chi2)) c.quality |= quality::kElg;
}

Candidate no_fit(const PreparedTarget& target, const Template& source) {
  Candidate c;
  c.spectype = source.spectype;
  c.subtype = source.subtype;
  c.method = name_of(source.method);
  c.chi2 = kHugeChi2;
  c.zwarn = target.good_pixels == 0 ? zwarn::kNoData : zwarn::kFitLimit | zwarn::kBadMinimum;
  c.coefficients.assign(source.nbasis(), 0.0);
  c.good_pixels = target.good_pixels;
  c.least_separation_kms = source.least_separation_kms();
  return c;
}

std::vector<std::size_t> find_minima(std::span<const double> values) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool left = i == 0 || values[i] <= values[i - 1];
    const bool right = i + 1 == values.size() || values[i] <= values[i + 1];
    if (left && right && !std::isnan(values[i])) out.push_back(i);
  }
  std::stable_sort(out.begin(), out.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return out;
}

Parabola parabola(std::span<const double, 3> x, std::span<const double, 3> y) {
  const double left = (y[1] - y[0]) / (x[1] - x[0]), right = (y[2] - y[1]) / (x[2] - x[1]);
  const double a = (right - left) / (x[2] - x[0]);
  if (!(std::abs(a) > 0)) return {};
  const double slope = left + a * (x[1] - x[0]);  // at the middle point, where it stays accurate
  Parabola p;
  p.x0 = x[1] - slope / (2 * a);
  p.y0 = y[1] - slope * slope / (4 * a);
  p.width = 1 / std::sqrt(std::abs(a));
  p.good = a > 0 && p.x0 > x[0] && p.x0 < x[2] && p.y0 > 0;
  return p;
}

}  // namespace fiberloom::redshift
