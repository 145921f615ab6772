// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/redshift/find.hpp"

#include <algorithm>

namespace fiberloom::redshift {

FoundRedshifts find_redshifts(const TargetSet& set, const TemplateSet& templates,
                              std::span<const Prior> priors, const FindOptions& options,
                              Executor& executor) {
  FoundRedshifts out;
  out.curves = scan(set, templates, options.scan, executor);
  out.candidates = refine(set, out.curves, priors, options.refine, executor);
  const bool again = options.scan.fit.evidence == WithEvidence::kYes && options.fine_step_kms > 0;
  TargetSet unsure{set.grids, {}};
  std::vector<std::size_t> which;
  std::vector<Prior> their_priors;
  for (std::size_t t = 0; t < set.targets.size() && again; ++t) {
    if (set.targets[t].good_pixels == 0) continue;
    if (out.candidates[t].front().probability >= options.sure) continue;
    which.push_back(t);
    unsure.targets.push_back(set.targets[t]);
    if (!priors.empty()) their_priors.push_back(priors[t]);
  }
  if (which.empty()) return out;
  ScanOptions fine = options.scan;
  fine.mode = ScanMode::kExact;
  fine.step_kms =
      fine.step_kms > 0 ? std::min(fine.step_kms, options.fine_step_kms) : options.fine_step_kms;
  const std::vector<Curve> curves = scan(unsure, templates, fine, executor);
  auto better = refine(unsure, curves, their_priors, options.refine, executor);
  for (std::size_t i = 0; i < which.size(); ++i) out.candidates[which[i]] = std::move(better[i]);
  out.scanned_again = which.size();
  return out;
}

}  // namespace fiberloom::redshift
