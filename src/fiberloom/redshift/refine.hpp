// SPDX-License-Identifier: BSD-3-Clause
// From a scan to candidates, with each fibre's own resolution: redshift, chi2, coefficients and
// error belong to one and the same z, and the error comes from where chi2 really rises by 1.
#pragma once

#include <span>
#include <vector>

#include "fiberloom/redshift/candidate.hpp"
#include "fiberloom/redshift/probability.hpp"
#include "fiberloom/redshift/scan.hpp"

namespace fiberloom::redshift {

/// What the candidates are ordered by. The best by chi2 has the most vectors as often as not.
enum class Order { kChi2, kProbability };
/// Where errors come from.
enum class Errors {
  kChi2,       ///< half the interval in which chi2 stays within 1 of its minimum
  kPosterior,  ///< rms over all peaks within 1000 km/s; wants evidence
};

enum class WithLines { kNo, kYes };

struct RefineOptions {
  std::size_t minima = 3;  ///< kept per spectral type
  /// Minima of the scan that are looked at per spectral type: the scan may have them in the wrong
  /// order, since it jumps over narrow ones and takes a mean resolution.
  std::size_t first_look = 6;
  /// The next three count only where the scan has evidence (FitOptions::evidence).
  ProbabilityOptions probability;
  Order order = Order::kProbability;
  Errors errors = Errors::kPosterior;
  /// Line fluxes of the best candidate, and the users' cuts.
  WithLines lines = WithLines::kYes;
};

/// Candidates of every target, best first; the values of `curves` decide which minima are looked
/// at, and nothing else. `priors`: one a target, or none; they count to the end, so that chi2 holds
/// what the prior adds.
[[nodiscard]] std::vector<std::vector<Candidate>> refine(const TargetSet& set,
                                                         std::span<const Curve> curves,
                                                         std::span<const Prior> priors,
                                                         const RefineOptions& options,
                                                         Executor& executor);

}  // namespace fiberloom::redshift
