// SPDX-License-Identifier: BSD-3-Clause
// Columns of TOAST's tables with the units that astropy noted beside them. Knows no detectors.
#pragma once

#include <string>
#include <vector>

namespace loom::hdf5 {
class Reader;
}

namespace skyloom {

class UnitColumns {
 public:
  /// `file` outlives it.
  UnitColumns(const hdf5::Reader& file, std::string table);

  /// A column in the unit of its kind ("K s(1/2)", "Hz", "rad"), which one without a note has too;
  /// empty: there is none. Throws kUnsupported where another unit is noted.
  [[nodiscard]] std::vector<double> read(const std::string& name, const std::string& kind) const;

 private:
  [[nodiscard]] double factor_of(const std::string& name, const std::string& kind) const;

  const hdf5::Reader& file_;
  std::string table_;
  std::vector<std::string> notes_;
};

}  // namespace skyloom
