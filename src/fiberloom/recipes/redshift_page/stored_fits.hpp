// SPDX-License-Identifier: BSD-3-Clause
// Fits and chi2 curves that files hold beside the best redshift: the table CANDIDATES, and details
// in redrock's layout (HDF5), ours or redrock's, without the templates that they were made with.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "fiberloom/recipes/redshift_page/page_target.hpp"
#include "loom/hdf5/hdf5.hpp"

namespace fiberloom::redshift_page {

/// The rows of each target of a table of candidates, in their order.
class StoredCandidates {
 public:
  explicit StoredCandidates(const Table& table);
  [[nodiscard]] std::vector<ShownFit> of(std::int64_t id) const;

 private:
  const Table& table_;
  std::unordered_map<std::int64_t, std::vector<std::size_t>> rows_;
};

struct StoredCurve {
  std::string name;
  std::vector<double> z, chi2;  ///< chi2 with penalty
};

class StoredDetails {
 public:
  /// Throws kNotFound, kCorrupt, kUnsupported (no HDF5), kMissingHdu, kWrongShape.
  explicit StoredDetails(const std::string& path);
  [[nodiscard]] bool holds(std::int64_t id) const { return rows_.contains(id); }
  /// Of each template. Precondition, of the next too: holds(id).
  [[nodiscard]] std::vector<StoredCurve> curves(std::int64_t id) const;
  /// In the order of znum; none where the file keeps no minima of the target.
  [[nodiscard]] std::vector<ShownFit> fits(std::int64_t id) const;

 private:
  hdf5::Reader file_;
  std::unordered_map<std::int64_t, std::size_t> rows_;
  std::vector<std::pair<std::string, std::vector<double>>> scans_;  ///< full type, redshifts
};

}  // namespace fiberloom::redshift_page
