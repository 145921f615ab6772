// SPDX-License-Identifier: BSD-3-Clause
// Answers against the truth: counts, pulls, calibration.
#pragma once

#include <string>
#include <vector>

#include "fiberloom/redshift/candidate.hpp"
#include "fiberloom/truth/survey.hpp"

namespace fiberloom::bench {

/// Of the right type, and within 1000 km/s (quasars 3000).
[[nodiscard]] bool is_right(const truth::TrueTarget& truth, const redshift::Candidate& c);

/// Truth and the three best candidates: what --table writes.
[[nodiscard]] std::string line_of(const truth::TrueTarget& truth,
                                  const std::vector<redshift::Candidate>& found);

class Judge {
 public:
  void add(const truth::TrueTarget& truth, const redshift::Candidate& best);
  /// All tables, to standard output.
  void report() const;

 private:
  struct Answer {
    std::string type;
    bool right;
    double snr, pull, kms, delta_chi2, probability;
    std::uint32_t zwarn;
    std::string found;
  };
  void report_types() const;
  void report_thresholds() const;
  void report_pulls() const;
  void report_calibration() const;
  std::vector<Answer> answers_;
};

}  // namespace fiberloom::bench
