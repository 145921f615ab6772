// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift/fit_targets.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include "fiberloom/redshift/archetype_scan.hpp"
#include "fiberloom/redshift/redrock.hpp"
#include "fiberloom/redshift/refine.hpp"
#include "fiberloom/redshift/smooth_reference.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {
namespace {

using namespace redshift;

PrepareOptions prepare_options(const RedshiftOptions& options) {
  PrepareOptions out =
      options.method == RedshiftMethod::kRedrock ? redrock_rules() : PrepareOptions{};
  if (options.all_spectra) out.coadd = Coadd::kNone;
  out.negative_nsig = std::abs(options.negflux_nsig);
  out.cosmic_nsig = options.cosmics_nsig;
  out.mask_sky_lines = options.mask_sky;
  out.sky_residual = options.subtract_sky ? SkyResidual::kSubtract : SkyResidual::kKeep;
  return out;
}

ScanOptions scan_options(const RedshiftOptions& options) {
  if (options.method == RedshiftMethod::kRedrock) return redrock_scan();
  ScanOptions out;
  out.mode = options.method == RedshiftMethod::kExact ? ScanMode::kExact : ScanMode::kFast;
  out.fit.evidence = options.evidence ? WithEvidence::kYes : WithEvidence::kNo;
  if (options.least_coverage < 1) out.coverage = redshift::Coverage::kPartial;
  out.least_coverage = options.least_coverage;
  return out;
}

ArchetypeOptions archetype_options(const TargetSet& set, const RedshiftOptions& options) {
  ArchetypeOptions out;
  out.constrained = options.method == RedshiftMethod::kRedrock ? Constrained::kNormalEquations
                                                               : Constrained::kChi2;
  out.legendre = options.no_legendre ? 0 : static_cast<std::size_t>(options.legendre_terms);
  const bool one_camera = set.grids.size() < 2;
  const bool each = options.legendre_percamera != PerCamera::kNo && !one_camera;
  out.cameras = each && !options.no_legendre ? LegendreOf::kEachCamera : LegendreOf::kAllCameras;
  out.prior_sigma = std::max(options.legendre_prior, 0.0);
  out.nearest = static_cast<std::size_t>(std::max(options.nearest, 1));
  return out;
}

/// Archetypes of a spectral type, or null.
const Archetypes* archetypes_of(const RedshiftModels& models, const std::string& spectype) {
  for (const Archetypes& a : models.archetypes) {
    if (a.spectype == spectype) return &a;
  }
  return nullptr;
}

/// Minima of a scan with archetypes that join the candidates.
constexpr std::size_t kOfScan = 3;

/// Of those of one type at one redshift the better one stays.
void add_candidate(std::vector<Candidate>& candidates, Candidate c) {
  if (c.coefficients.front() <= 0) c.zwarn |= zwarn::kNegativeModel;
  for (Candidate& known : candidates) {
    if (known.spectype != c.spectype) continue;
    if (std::abs(velocity_kms(c.z, known.z)) >= c.least_separation_kms) continue;
    if (c.chi2 < known.chi2) {
      c.evidence = known.evidence;
      c.probability = known.probability;
      c.class_probability = known.class_probability;
      c.posterior_zerr = known.posterior_zerr;
      known = std::move(c);
    }
    return;
  }
  if ((candidates.front().zwarn & zwarn::kNoData) == 0) candidates.push_back(std::move(c));
}

/// Archetypes say what the candidates of their types are, and the order follows.
void apply_archetypes(TargetFits& fits, const RedshiftModels& models,
                      const RedshiftOptions& options, std::size_t minima, Executor& executor) {
  std::deque<ArchetypeFitter> fitters;
  std::deque<ArchetypeScan> scans;
  std::vector<const ArchetypeFitter*> of_curve;
  std::vector<const ArchetypeScan*> scan_of_curve;
  const ArchetypeOptions how = archetype_options(*fits.set, options);
  const double variance =
      how.cameras == LegendreOf::kEachCamera ? how.prior_sigma * how.prior_sigma : 0;
  for (const Curve& curve : fits.curves) {
    const Template& t = curve.fitter->source();
    const Archetypes* a = archetypes_of(models, t.spectype);
    of_curve.push_back(a == nullptr ? nullptr : &fitters.emplace_back(*fits.set, *a, t.igm, how));
    const bool everywhere = a != nullptr && options.archetypes_everywhere;
    scan_of_curve.push_back(
        everywhere ? &scans.emplace_back(*fits.set, *a, t.igm, fitters.back(), variance) : nullptr);
  }
  executor.run(fits.candidates.size(), [&](std::size_t t) {
    const PreparedTarget& target = fits.set->targets[t];
    for (Candidate& c : fits.candidates[t]) {
      c.zwarn &= ~zwarn::kSmallDeltaChi2;
      const ArchetypeFitter* fitter = of_curve[c.curve];
      if (fitter == nullptr || target.good_pixels == 0 || !fitter->covers(c.z)) continue;
      take_archetype(target, *fitter, c);
      if (c.coefficients.front() <= 0) c.zwarn |= zwarn::kNegativeModel;
    }
    for (std::size_t k = 0; k < scan_of_curve.size(); ++k) {
      if (scan_of_curve[k] == nullptr) continue;
      for (Candidate& c : scan_of_curve[k]->find(target, fits.curves[k], k, kOfScan)) {
        add_candidate(fits.candidates[t], std::move(c));
      }
    }
    rank(fits.candidates[t], minima);
  });
}

/// Line fluxes of the best candidates, and the users' cuts.
void measure_lines(TargetFits& fits, Executor& executor) {
  executor.run(fits.candidates.size(), [&](std::size_t t) {
    Candidate& best = fits.candidates[t].front();
    best.lines = line_fluxes(fits.set->targets[t], fits.set->grids, best.z);
    set_quality(best);
  });
}

/// Values of an earlier scan instead of a new one.
std::vector<Curve> given_curves(const TargetSet& set, const RedshiftModels& models,
                                const ScanOptions& how, std::span<const GivenCurve> given,
                                Executor& executor) {
  std::vector<Curve> curves = empty_curves(set, models.templates, how, executor);
  for (std::size_t k = 0; k < curves.size(); ++k) {
    const GivenCurve& from = given[k];
    Curve& to = curves[k];
    to.chi2 = Array2D<double>(set.targets.size(), to.z.size());
    to.penalty = Array2D<double>(set.targets.size(), to.z.size());
    for (std::size_t i = 0; i < to.z.size(); ++i) {
      constexpr double kSameRedshift = 1e-9;  // numpy rounds a grid otherwise
      const auto found = std::lower_bound(from.z.begin(), from.z.end(), to.z[i] - kSameRedshift);
      const auto at = static_cast<std::size_t>(found - from.z.begin());
      if (found == from.z.end() || *found > to.z[i] + kSameRedshift) {
        throw Error(Status::kWrongShape,
                    print("scan of %s: not at z = %.10g, where the template is tried",
                          to.fitter->source().full_type().c_str(), to.z[i]));
      }
      for (std::size_t t = 0; t < set.targets.size(); ++t) {
        to.chi2(t, i) = from.chi2(t, at);
        to.penalty(t, i) = from.penalty(t, at);
      }
    }
  }
  return curves;
}

void check(const RedshiftOptions& options) {
  const auto fail = [](const char* what, double value, const char* expected) {
    throw Error(Status::kUsage, print("%s %g: expected %s", what, value, expected));
  };
  if (options.minima < 0) fail("nminima", options.minima, "1 or more");
  if (options.fine_points < 3) fail("zminfit_npoints", options.fine_points, "3 or more");
  if (options.legendre_terms < 0) fail("legendre terms", options.legendre_terms, "0 or more");
  if (!std::isfinite(options.negflux_nsig)) fail("negflux_nsig", options.negflux_nsig, "a number");
  const bool share = options.least_coverage > 0 && options.least_coverage <= 1;
  if (!share) fail("least_coverage", options.least_coverage, "above 0, at most 1");
  if (!(options.cosmics_nsig >= 0)) fail("cosmics_nsig", options.cosmics_nsig, "0 or more");
}

}  // namespace

bool has_sky_continuum(const RedshiftOptions& options, const RedshiftModels& models) {
  return options.sky_continuum && options.method != RedshiftMethod::kRedrock &&
         models.archetypes.empty() && options.least_coverage >= 1;
}

std::size_t minima_of(const RedshiftOptions& options, const RedshiftModels& models) {
  if (options.minima > 0) return static_cast<std::size_t>(options.minima);
  return models.archetypes.empty() ? 3 : 9;
}

TargetFits fit_targets(std::span<const TargetView> targets, const RedshiftModels& models,
                       const RedshiftOptions& options, std::span<const Prior> priors,
                       std::span<const GivenCurve> given, KeepScan keep, Executor& executor,
                       FastScanner* scanner, std::span<const SkyWidth> sky) {
  check(options);
  ScanOptions how = scan_options(options);
  how.keep_coefficients = keep == KeepScan::kCoefficients;
  if (!given.empty()) how.fit.evidence = WithEvidence::kNo;  // that scan has none
  TargetFits out;
  out = ready_spectra(targets, options, executor);
  if (given.empty() && has_sky_continuum(options, models)) add_sky_continuum(*out.set, sky);
  const std::size_t minima = minima_of(options, models);
  out.curves = given.empty() ? scan(*out.set, models.templates, how, executor, scanner)
                             : given_curves(*out.set, models, how, given, executor);
  if (options.method == RedshiftMethod::kRedrock) {
    RedrockOptions rules;
    rules.minima = minima;
    rules.fine_points = static_cast<std::size_t>(options.fine_points);
    rules.archetypes = models.archetypes;
    rules.archetype = archetype_options(*out.set, options);
    out.candidates = find_redrock(*out.set, out.curves, priors, rules, executor);
    return out;
  }
  RefineOptions rules;
  rules.minima = minima;
  rules.first_look = std::max(rules.first_look, minima);
  rules.probability.galaxy = options.type_shares[0];
  rules.probability.qso = options.type_shares[1];
  rules.probability.star = options.type_shares[2];
  rules.lines = WithLines::kNo;  // archetypes may yet change which one is the best
  out.candidates = refine(*out.set, out.curves, priors, rules, executor);
  if (!models.archetypes.empty()) apply_archetypes(out, models, options, minima, executor);
  if (options.evidence) measure_lines(out, executor);
  return out;
}

std::vector<std::vector<double>> model_of(const TargetFits& fits, std::size_t t,
                                          const Candidate& candidate, const RedshiftModels& models,
                                          const RedshiftOptions& options) {
  const PreparedTarget& target = fits.set->targets[t];
  const Fitter& fitter = *fits.curves[candidate.curve].fitter;
  std::vector<std::vector<double>> of_blocks;
  if (candidate.method == "ARCH") {
    const Archetypes& a = *archetypes_of(models, fitter.source().spectype);
    of_blocks =
        ArchetypeFitter(*fits.set, a, fitter.source().igm, archetype_options(*fits.set, options))
            .models(target, candidate);
  } else {
    for (const Block& block : target.blocks) {
      const bool reaches =
          candidate.z > -1 && (fitter.sampler().covers(candidate.z) || options.least_coverage < 1);
      of_blocks.push_back(reaches ? fitter.model(block, candidate.z, candidate.coefficients)
                                  : std::vector<double>(block.pixels, 0.0));
    }
  }
  std::vector<std::vector<double>> out(fits.set->grids.size());
  for (std::size_t b = 0; b < target.blocks.size(); ++b) {
    std::vector<double>& at = out[target.blocks[b].grid];
    if (at.empty()) at = std::move(of_blocks[b]);  // exposures share a grid: the first one's R
  }
  return out;
}

TargetFits ready_spectra(std::span<const TargetView> targets, const RedshiftOptions& options,
                         Executor& executor) {
  TargetFits out;
  out.set = std::make_unique<TargetSet>(prepare(targets, prepare_options(options), executor));
  if (options.least_coverage < 1) add_smooth_reference(*out.set);
  return out;
}

TargetFits ready_targets(std::span<const TargetView> targets, const RedshiftModels& models,
                         const RedshiftOptions& options, Executor& executor) {
  TargetFits out = ready_spectra(targets, options, executor);
  out.curves = empty_curves(*out.set, models.templates, scan_options(options), executor);
  return out;
}

}  // namespace fiberloom
