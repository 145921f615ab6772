// SPDX-License-Identifier: BSD-3-Clause
// What of the catalogue is wanted, without SQL: a cone, classes, redshifts, targets, tiles; and the
// query that this is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "loom/db/db.hpp"

namespace fiberloom::catalogue {

struct Cone {
  double ra_deg = 0, dec_deg = 0, radius_arcsec = 0;
};

struct Selection {
  std::string from = "zbest";        ///< a table or view
  std::vector<std::string> columns;  ///< empty: those that most want; {"*"}: all
  std::optional<Cone> cone;          ///< nearest first
  std::vector<std::string> classes;  ///< SPECTYPE; empty: any, as of targets and tiles
  std::optional<double> z_min, z_max;
  std::vector<std::int64_t> targetids, tileids;
  bool good = false;      ///< ZWARN 0
  bool none = false;      ///< no row: of a list that is given, and empty
  std::size_t limit = 0;  ///< rows; 0: all
  std::size_t skip = 0;   ///< rows left out before
};

/// "RA,DEC,ARCSEC". Throws kUsage.
[[nodiscard]] Cone parse_cone(const std::string& text);
/// "A,B", either of which may be missing. Throws kUsage.
void parse_z_range(const std::string& text, Selection& selection);
/// Whole numbers. Throws kUsage.
[[nodiscard]] std::vector<std::int64_t> parse_numbers(const std::string& option,
                                                      const std::vector<std::string>& texts);

/// Tables and views that a selection may be made from.
[[nodiscard]] std::vector<std::string> selectable();

/// Throws kUsage for a table or a column that is none, or a cone of a table without places.
[[nodiscard]] db::Query query_of(const Selection& selection);

}  // namespace fiberloom::catalogue
