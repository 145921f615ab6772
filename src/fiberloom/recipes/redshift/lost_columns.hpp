// SPDX-License-Identifier: BSD-3-Clause
// Which columns of FIBERMAPs or EXP_FIBERMAPs are in nothing that is made of them, since not all
// files have them.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/table.hpp"
#include "loom/base/log.hpp"

namespace fiberloom {

/// The FIBERMAPs of a job, or its other tables of one name, file by file: their names of columns
/// alone.
class FibermapColumns {
 public:
  explicit FibermapColumns(std::string hdu = "FIBERMAP") : hdu_(std::move(hdu)) {}
  void add(const std::string& path, const Table& fibermap);
  /// Warns of columns that none of `made` has: the FIBERMAPs one below the other, and the tables
  /// that became of them.
  void tell(std::initializer_list<const Table*> made, const Observer& observer) const;

 private:
  std::string hdu_;
  std::vector<std::string> paths_;
  std::map<std::string, std::vector<bool>> columns_;  ///< whether each file has it, up to the last
  std::vector<std::string> order_;                    ///< of columns_, as they first appear
};

}  // namespace fiberloom
