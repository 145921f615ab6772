// SPDX-License-Identifier: BSD-3-Clause
// Archetypes at every redshift of a grid, not only where a template has a minimum. The Legendre
// terms are free and do not depend on z, so they are projected out once; of an archetype A that may
// not be negative there remains
//
//   chi2(z) = f'Wf - y_L' G^-1 y_L - max(0, A'r)^2 / (A'WA - |C A|^2)
//
// with G = L'WL and the prior, C = G^(-1/2) L'W, r = W (f - L G^-1 y_L): exact, without a solver.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "fiberloom/redshift/archetype_fit.hpp"
#include "fiberloom/redshift/scan.hpp"

namespace fiberloom::redshift {

class ArchetypeScan {
 public:
  /// `set`, `archetypes` and `fitter` (of the same archetypes) must outlive it.
  ArchetypeScan(const TargetSet& set, const Archetypes& archetypes, Igm igm,
                const ArchetypeFitter& fitter, double prior_variance);

  /// What of a target does not depend on z.
  struct Projected {
    double base = 0;                        ///< chi2 of the Legendre terms alone, with their prior
    std::vector<double> residual;           ///< r, all pixels of all blocks
    std::vector<std::vector<double>> rows;  ///< of C: [term][pixel]
  };
  [[nodiscard]] Projected project(const PreparedTarget& target) const;

  /// The least chi2 of all archetypes at kLanes redshifts.
  [[nodiscard]] ZPack chi2(const PreparedTarget& target, const Projected& projected,
                           const ZPack& z) const;

  /// The lowest minima over the grid of a curve, closed in and fitted: at most `most`.
  [[nodiscard]] std::vector<Candidate> find(const PreparedTarget& target, const Curve& curve,
                                            std::size_t index, std::size_t most) const;

 private:
  [[nodiscard]] Candidate close_in(const PreparedTarget& target, const Projected& projected,
                                   double low, double high) const;
  const TargetSet& set_;
  const ArchetypeFitter& fitter_;
  const ScanKernels& kernels_;
  double prior_variance_;        ///< of Legendre coefficients; 0: no prior
  std::deque<Template> groups_;  ///< as many archetypes each as a kernel takes
  std::deque<Sampler> samplers_;
};

}  // namespace fiberloom::redshift
