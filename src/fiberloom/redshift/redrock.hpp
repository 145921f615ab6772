// SPDX-License-Identifier: BSD-3-Clause
// From a scan to candidates by the rules of redrock 0.22, to the letter: the oracle, and what users
// compare with. Its scan is an exact one of spectra prepared with redrock_rules(), on the
// templates' own grids (ScanMode::kExact, Coverage::kRequire, Constrained::kNormalEquations).
#pragma once

#include <span>
#include <vector>

#include "fiberloom/redshift/archetype_fit.hpp"
#include "fiberloom/redshift/candidate.hpp"
#include "fiberloom/redshift/scan.hpp"

namespace fiberloom::redshift {

struct RedrockOptions {
  std::size_t minima = 3;        ///< --nminima: refined per template, kept per spectral type
  std::size_t fine_points = 15;  ///< --zminfit-npoints
  /// Where a minimum's spectral type has archetypes, they say what the object is (the peer then
  /// takes 9 minima).
  std::span<const Archetypes> archetypes{};
  ArchetypeOptions archetype{.constrained = Constrained::kNormalEquations};
};

[[nodiscard]] ScanOptions redrock_scan();

/// Candidates of every target, best first. `priors`: one a target, or none; they act on the coarse
/// scan alone. A target without a good pixel has candidates of kHugeChi2 with NODATA.
[[nodiscard]] std::vector<std::vector<Candidate>> find_redrock(const TargetSet& set,
                                                               std::span<const Curve> curves,
                                                               std::span<const Prior> priors,
                                                               const RedrockOptions& options,
                                                               Executor& executor);

}  // namespace fiberloom::redshift
