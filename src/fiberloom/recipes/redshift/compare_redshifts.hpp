// SPDX-License-Identifier: BSD-3-Clause
// Two tables of redshifts side by side, or one beside the truth that its spectra were drawn from.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fiberloom/formats/formats.hpp"

namespace fiberloom {

/// What a file says of its targets: REDSHIFTS of ours and redrock's, or TRUTH of `simulate`.
struct RedshiftAnswers {
  std::string path;
  bool is_truth = false;  ///< then all are sure
  std::vector<std::int64_t> id, zwarn;
  std::vector<std::string> spectype;
  std::vector<double> z, zerr;  ///< zerr may be empty
};

/// Has a file one of the two tables?
[[nodiscard]] bool has_redshifts(const std::string& path);
/// Throws kMissingHdu, kMissingKeyword (a column), and what readers throw.
[[nodiscard]] RedshiftAnswers read_answers(const std::string& path, Verify verify);

/// Where two say something else of a target that both are sure of.
struct RedshiftDifference {
  std::int64_t id = 0;
  std::string spectype_a, spectype_b;
  double z_a = 0, z_b = 0;
};

struct RedshiftComparison {
  static constexpr std::array<double, 5> kThresholds{0.1, 1, 10, 100, 1000};  ///< km/s
  std::size_t both = 0, only_a = 0, only_b = 0;
  std::size_t repeated_a = 0, repeated_b = 0;    ///< rows of a TARGETID that a row before them has
  std::size_t same_type = 0;                     ///< of those in both
  std::array<std::size_t, 5> nearer{};           ///< of these: |velocity| below each threshold
  std::size_t sure_a = 0, sure_b = 0, sure = 0;  ///< ZWARN 0 in A, in B, in both
  std::size_t agree = 0;                         ///< all of those in both, sure or not
  std::size_t sure_agree = 0;                    ///< same type and redshift
  std::vector<RedshiftDifference> list;          ///< the first of those who do not

  /// Share of the sure ones that do not agree; 0 of none.
  [[nodiscard]] double difference() const noexcept;
};

/// By TARGETID; of one that a file repeats the first row counts. Redshifts agree within 1000 km/s,
/// of quasars 3000.
[[nodiscard]] RedshiftComparison compare_redshifts(const RedshiftAnswers& a,
                                                   const RedshiftAnswers& b,
                                                   std::size_t most_listed);

}  // namespace fiberloom
