// SPDX-License-Identifier: BSD-3-Clause
// All steps from prepared spectra to candidates with probabilities: what a program calls.
#pragma once

#include <span>
#include <vector>

#include "fiberloom/redshift/refine.hpp"
#include "fiberloom/redshift/scan.hpp"

namespace fiberloom::redshift {

struct FindOptions {
  ScanOptions scan{.fit = {.evidence = WithEvidence::kYes}};
  RefineOptions refine;
  /// Targets whose best candidate is less probable than `sure` are scanned again with steps of
  /// fine_step_kms, so that no doublet falls between two redshifts; 0: none is. A close look around
  /// the likely ones (refine.hpp) was seen to find as much for an eighth of the time.
  double sure = 0.99;
  double fine_step_kms = 0;
};

struct FoundRedshifts {
  std::vector<std::vector<Candidate>> candidates;  ///< [target], best first
  std::vector<Curve> curves;                       ///< of the first scan
  std::size_t scanned_again = 0;
};

/// scan(), refine(), and both again for the targets that are not sure. The second time there is
/// each fibre's own resolution at every redshift, so that results do not depend on who else is not
/// sure. Throws what they do. `set` and `templates` must outlive the result.
[[nodiscard]] FoundRedshifts find_redshifts(const TargetSet& set, const TemplateSet& templates,
                                            std::span<const Prior> priors,
                                            const FindOptions& options, Executor& executor);

}  // namespace fiberloom::redshift
