// SPDX-License-Identifier: BSD-3-Clause
// Targets and templates of the sizes that surveys have, made of nothing: for checks and benchmarks
// of scans, which mind neither what is in a template nor what is found.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fiberloom/redshift/scan.hpp"

namespace fiberloom {

struct ScanCaseOptions {
  int targets = 64;    ///< of one group
  int redshifts = 64;  ///< of all templates, about
  int pixels = 7958;   ///< of three cameras, about
};

struct ScanCase {
  redshift::TemplateSet templates;  ///< a galaxy's, two of quasars, eight of stars
  redshift::TargetSet set;          ///< resolutions of 11 diagonals, the sky's continuum
  redshift::ScanOptions options;    ///< with evidence and coefficients
};
[[nodiscard]] std::unique_ptr<ScanCase> make_scan_case(const ScanCaseOptions& options);

struct ScanAgreement {
  bool passed = false;
  double difference = 0;  ///< largest of chi2, as a share of chi2 without any model
  std::string detail;
};
/// chi2 within 1e-6 of chi2 without any model, and the same least chi2's redshift of each target.
[[nodiscard]] ScanAgreement compare_scans(const redshift::TargetSet& set,
                                          const std::vector<redshift::Curve>& cpu,
                                          const std::vector<redshift::Curve>& card);
/// chi2, penalties, evidence and coefficients, byte by byte.
[[nodiscard]] bool same_scan(const std::vector<redshift::Curve>& a,
                             const std::vector<redshift::Curve>& b);

}  // namespace fiberloom
