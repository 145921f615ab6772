// SPDX-License-Identifier: BSD-3-Clause
// The rotation axis from rows of the scan, prepared as for the volume.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "tomoloom/exchange/block_source.hpp"
#include "tomoloom/recipes/recon_job.hpp"

namespace tomoloom {

/// The axis' column in the first row of a scan's window and in the last one.
struct Axis {
  double first = 0, last = 0;
};

/// The middles of `count` parts of rows [first, first + rows), of as many as there are rows.
[[nodiscard]] std::vector<std::size_t> rows_spread(std::size_t first, std::size_t rows,
                                                   std::size_t count);

/// Looks in the rows of `summary`, in the middle half of their columns. All outlive it.
class AxisFinder {
 public:
  AxisFinder(const ReconJob& job, const ScanLayout& layout, const ReconSummary& summary,
             BlockSource& source, Executor& executor, const Observer& observer);

  /// By the job's way; a warning where it lies at an end. Throws kUnsupported where the angles do
  /// not tell.
  [[nodiscard]] Axis find() const;

 private:
  /// Line integrals [angle][row][column] of some rows of the window.
  [[nodiscard]] std::vector<float> prepared(const std::vector<std::size_t>& rows) const;
  struct Found {
    double column = 0;
    bool at_end = false;  ///< of where it was looked for
  };
  /// The one column that the job's way finds in these rows.
  [[nodiscard]] std::optional<Found> column_of(const std::vector<std::size_t>& rows) const;
  /// Columns of the window between which it is looked for.
  [[nodiscard]] std::pair<double, double> searched() const;
  void tell_doubt() const;
  [[nodiscard]] Axis fit() const;

  const ReconJob& job_;
  const ScanLayout& layout_;
  const ReconSummary& summary_;
  BlockSource& source_;
  Executor& executor_;
  const Observer& observer_;
  std::vector<double> theta_;
};

}  // namespace tomoloom
