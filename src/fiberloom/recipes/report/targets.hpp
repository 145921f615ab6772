// SPDX-License-Identifier: BSD-3-Clause
// Who is at the end of each fibre: what FIBERMAP (and the truth of a simulated frame) says of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fiberloom/formats/formats.hpp"

namespace fiberloom::report {

/// Empty vectors where a table does not tell; else one entry a fibre.
struct Targets {
  std::vector<std::string> ids;    ///< TARGETID in digits: 64 bits do not fit a page's numbers
  std::vector<std::string> types;  ///< OBJTYPE, and the class of the truth: "TGT", "SKY", "TGT QSO"
  std::vector<double> redshifts;   ///< of the truth
  std::vector<double> x, y;        ///< place, NaN where unknown
  std::string place_unit;          ///< "mm" in the focal plane, "deg" on the sky
  std::vector<std::int64_t> status;  ///< FIBERSTATUS: not 0 is a fibre known to be bad
  [[nodiscard]] bool is_sky(std::size_t row) const;
  [[nodiscard]] bool is_known_bad(std::size_t row) const;
};

/// A column of whole numbers, exact to 64 bits; nullopt when there is none.
[[nodiscard]] std::optional<std::vector<std::int64_t>> whole_numbers(const Table& table,
                                                                     const std::string& name);

/// Of the rows of a frame; empty where the table has another number of rows. Places are FIBER_X,
/// FIBER_Y or FIBERASSIGN_X, _Y, in mm; else TARGET_RA, TARGET_DEC (or FIBER_RA, FIBER_DEC).
[[nodiscard]] Targets read_targets(const std::optional<Table>& fibermap, std::size_t rows);

/// Adds class and redshift by fibre number.
void add_truth(Targets& targets, const std::vector<std::int64_t>& fibers, const Table& truth);

}  // namespace fiberloom::report
