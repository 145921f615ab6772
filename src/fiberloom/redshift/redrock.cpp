// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/redshift/redrock.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom::redshift {
namespace {

/// Fits of one target and template at any number of redshifts.
class PeerRefiner {
 public:
  PeerRefiner(const PreparedTarget& target, const Curve& curve)
      : target_(target), fitter_(*curve.fitter), part_(fitter_.part_doubles()) {}

  /// chi2 with the penalty.
  std::vector<double> chi2(std::span<const double> z) {
    std::vector<double> out;
    for (std::size_t i = 0; i < z.size(); i += kLanes) {
      fitter_.fit(target_, z.subspan(i), {part_.data(), part_.size()}, fit_);
      for (std::size_t lane = 0; lane < kLanes && i + lane < z.size(); ++lane) {
        out.push_back(fit_.chi2[lane] + fit_.penalty[lane]);
      }
    }
    return out;
  }
  std::vector<double> coefficients(double z) {
    fitter_.fit(target_, {&z, 1}, {part_.data(), part_.size()}, fit_);
    std::vector<double> out(fitter_.nbasis());
    for (std::size_t a = 0; a < out.size(); ++a) out[a] = fit_.coefficient(a, 0);
    return out;
  }

 private:
  const PreparedTarget& target_;
  const Fitter& fitter_;
  Buffer<double> part_;
  PackFit fit_;
};

std::vector<double> linspace(double first, double last, std::size_t n) {
  std::vector<double> out(n);
  const double step = n > 1 ? (last - first) / static_cast<double>(n - 1) : 0;
  for (std::size_t i = 0; i < n; ++i) out[i] = first + static_cast<double>(i) * step;
  if (n > 1) out.back() = last;
  return out;
}

bool near_one(double z, std::span<const Candidate> accepted, double limit_kms) {
  return std::any_of(accepted.begin(), accepted.end(), [&](const Candidate& c) {
    return std::abs(velocity_kms(z, c.z)) < limit_kms;
  });
}

/// Coefficients at the parabola's z. A template that does not reach there is all right where that z
/// lies outside the scan.
void set_coefficients(Candidate& c, double z, const Curve& curve, PeerRefiner& refiner) {
  const Fitter& fitter = *curve.fitter;
  if (z > -1 && fitter.sampler().covers(z)) {
    c.coefficients = refiner.coefficients(z);
    return;
  }
  if (z >= curve.z.front() && z <= curve.z.back()) {
    throw Error(kTemplateRange,
                fitter.source().full_type() + print(": does not cover the spectra at z = %g", z));
  }
  c.coefficients.assign(fitter.nbasis(), 0.0);
  c.zwarn |= zwarn::kFitLimit | zwarn::kBadMinimum;
}

/// One minimum of the coarse scan, finer.
Candidate refined(std::size_t at, const Curve& curve, std::size_t fine_points,
                  PeerRefiner& refiner) {
  const std::vector<double>& grid = curve.z;
  Candidate c;
  c.fine_z =
      linspace(grid[at == 0 ? 0 : at - 1], grid[std::min(at + 1, grid.size() - 1)], fine_points);
  c.fine_chi2 = refiner.chi2(c.fine_z);
  const auto lowest = static_cast<std::size_t>(
      std::min_element(c.fine_chi2.begin(), c.fine_chi2.end()) - c.fine_chi2.begin());
  const std::size_t middle = std::clamp<std::size_t>(lowest, 1, fine_points - 2);
  const Parabola p = parabola(std::span<const double, 3>(c.fine_z.data() + middle - 1, 3),
                              std::span<const double, 3>(c.fine_chi2.data() + middle - 1, 3));
  if (!p.good) c.zwarn |= zwarn::kBadMinimum;
  set_coefficients(c, p.x0, curve, refiner);
  c.z = p.x0;
  c.zerr = p.width;
  c.chi2 = p.y0;
  if (p.x0 < c.fine_z.front() || p.x0 > c.fine_z.back()) {
    c.zwarn |= zwarn::kBadMinimum;
    c.z = c.fine_z[lowest];
    c.chi2 = c.fine_chi2[lowest];
  }
  const double low = grid.size() > 1 ? grid[1] : grid[0];
  const double high = grid.size() > 1 ? grid[grid.size() - 2] : grid[0];
  if (c.z < low || c.z > high || p.x0 < low || p.x0 > high) c.zwarn |= zwarn::kFitLimit;
  return c;
}

/// One template as far as it is to be refined.
struct Source {
  const Curve* curve = nullptr;
  const ArchetypeFitter* archetypes = nullptr;  ///< of its spectral type, or null
};

std::vector<Candidate> of_template(const PreparedTarget& target, std::size_t index,
                                   const Source& from, std::span<const double> values,
                                   const RedrockOptions& options) {
  const Curve& curve = *from.curve;
  const Template& source = curve.fitter->source();
  const double limit = source.least_separation_kms();
  PeerRefiner refiner(target, curve);
  std::vector<Candidate> out;
  for (const std::size_t at : find_minima(values)) {
    if (out.size() == options.minima) break;
    if (near_one(curve.z[at], out, limit)) continue;
    Candidate c = refined(at, curve, options.fine_points, refiner);
    if (near_one(c.z, out, limit)) continue;
    c.curve = index;
    c.spectype = source.spectype;
    c.subtype = source.subtype;
    c.method = name_of(source.method);
    c.good_pixels = target.good_pixels;
    c.least_separation_kms = limit;
    if (from.archetypes != nullptr) take_archetype(target, *from.archetypes, c);
    out.push_back(std::move(c));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Candidate& a, const Candidate& b) { return a.chi2 < b.chi2; });
  return out;
}

/// A model whose archetypes lower the flux is none. Where only some types have archetypes the peer
/// lets zero pass.
void mark_negative(std::span<Candidate> candidates, bool all_have_archetypes) {
  for (Candidate& c : candidates) {
    if (c.method != "ARCH") continue;
    const double least = *std::min_element(c.coefficients.begin(), c.coefficients.end());
    const bool zero_is_bad = all_have_archetypes && c.coefficients.size() == 1;
    if (zero_is_bad ? least <= 0 : least < 0) c.zwarn |= zwarn::kNegativeModel;
  }
}

}  // namespace

ScanOptions redrock_scan() {
  return {.mode = ScanMode::kExact,
          .coverage = Coverage::kRequire,
          .fit = {.constrained = Constrained::kNormalEquations,
                  .oii_penalty = OiiPenalty::kYes,
                  .igm_edge = IgmEdge::kAtMiddle}};
}

std::vector<std::vector<Candidate>> find_redrock(const TargetSet& set,
                                                 std::span<const Curve> curves,
                                                 std::span<const Prior> priors,
                                                 const RedrockOptions& options,
                                                 Executor& executor) {
  if (options.minima < 1 || options.fine_points < 3) {
    throw Error(Status::kUsage, print("%zu minima with %zu points, expected 1 and 3 or more",
                                      options.minima, options.fine_points));
  }
  std::deque<ArchetypeFitter> fitters;
  std::vector<Source> sources;
  bool all_have_archetypes = true;
  for (const Curve& curve : curves) {
    const Template& t = curve.fitter->source();
    Source source{&curve, nullptr};
    for (const Archetypes& a : options.archetypes) {
      if (a.spectype != t.spectype) continue;
      source.archetypes = &fitters.emplace_back(set, a, t.igm, options.archetype);
    }
    all_have_archetypes &= source.archetypes != nullptr;
    sources.push_back(source);
  }
  std::vector<std::vector<Candidate>> out(set.targets.size());
  executor.run(set.targets.size(), [&](std::size_t t) {
    std::vector<Candidate>& candidates = out[t];
    for (std::size_t k = 0; k < curves.size() && set.targets[t].good_pixels > 0; ++k) {
      const Curve& curve = curves[k];
      std::vector<double> values = redrock_prior(priors.empty() ? Prior{} : priors[t], curve.z);
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] += curve.chi2(t, i) + curve.penalty(t, i);
      }
      for (Candidate& c : of_template(set.targets[t], k, sources[k], values, options)) {
        candidates.push_back(std::move(c));
      }
    }
    if (candidates.empty()) {
      candidates = {no_fit(set.targets[t], curves.front().fitter->source())};
    }
    mark_negative(candidates, all_have_archetypes);
    rank(candidates, options.minima);
  });
  return out;
}

}  // namespace fiberloom::redshift
