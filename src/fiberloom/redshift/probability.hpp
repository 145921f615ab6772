// SPDX-License-Identifier: BSD-3-Clause
// From likelihoods at all redshifts of all templates to probabilities of types and redshifts, and
// errors that know of second peaks.
#pragma once

#include <span>
#include <vector>

#include "fiberloom/redshift/candidate.hpp"
#include "fiberloom/redshift/prior.hpp"
#include "fiberloom/redshift/scan.hpp"

namespace fiberloom::redshift {

/// What is thought before a spectrum is seen. Within a type all templates count alike, and
/// redshifts are even in log(1 + z) over what the type's templates are scanned for; stars' are a
/// Gaussian around 0.
struct ProbabilityOptions {
  double galaxy = 1, qso = 1, star = 1, other = 1;  ///< shares of types, not necessarily of 1
  double star_kms = 150;
  /// A probability is that of everything of the type within this of a redshift, as is an error.
  double window_kms = 1000;
  double qso_window_kms = 3000;  ///< lines of quasars are that broad
  [[nodiscard]] double window_of(const std::string& spectype) const noexcept {
    return spectype == "QSO" ? qso_window_kms : window_kms;
  }
};

/// A stretch of redshifts of one template, looked at more closely than in the scan.
struct CloseScan {
  std::size_t curve = 0;
  std::vector<double> z, evidence;  ///< z increasing
  [[nodiscard]] bool holds(std::size_t k, double x) const noexcept {
    return k == curve && !z.empty() && x >= z.front() && x <= z.back();
  }
};

/// Sets probability, class_probability and posterior_zerr of the candidates of one target; the
/// curves must have evidence. The peaks of candidates are integrated with their own error where
/// that is less than the steps of the scan; all else is the sum over the scan, or over `close`
/// where that has been.
void set_probabilities(std::size_t target, std::span<const Curve> curves, const Prior& prior,
                       const ProbabilityOptions& options, std::span<const CloseScan> close,
                       std::span<Candidate> candidates);

}  // namespace fiberloom::redshift
