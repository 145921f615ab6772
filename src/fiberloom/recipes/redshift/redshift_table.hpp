// SPDX-License-Identifier: BSD-3-Clause
// Results as the field keeps them: the columns of REDSHIFTS, one row of a list each, and the
// header that says what was fitted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "fiberloom/formats/redshift_file.hpp"
#include "fiberloom/recipes/redshift/fit_targets.hpp"

namespace fiberloom {

/// The answer for one target.
struct RedshiftRow {
  std::int64_t id = 0;
  redshift::Candidate best;
  /// Numbers of coefficients among all its candidates: the width of a column depends on them.
  std::size_t fewest = 0, most = 0;
  std::vector<redshift::Candidate> others{};  ///< the next ones, where they are wanted
};

/// A fit of a target, as a row of a table has it.
struct RedshiftEntry {
  std::int64_t id;
  const redshift::Candidate& fit;
  std::size_t number = 0;  ///< 0: the best
};

/// A number that a float holds, however absurd it is: no infinity in the files.
[[nodiscard]] inline float to_float(double value) noexcept {
  constexpr double kMost = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(value, -kMost, kMost));
}

/// Bits of a fibermap join those of the fit; where nothing was found the row is the one that says
/// so: z 0, GALAXY, no coefficients, FITMETHOD NONE. Users' cuts follow.
void apply_verdict(std::uint32_t zwarn, redshift::Candidate& candidate);

/// How wide columns of lists and text are, of all rows.
struct RedshiftShape {
  std::size_t coefficients = 1, legendre = 0, template_coefficients = 0, subtype = 3;
  std::size_t cameras = 0;  ///< that have Legendre terms of their own; 0: all have the same
  bool archetypes = false;
  // Groups of columns that redrock's tables do not have.
  bool probabilities = false, lines = false, number = false;
};
/// Has a table what evidence gives?
[[nodiscard]] bool has_evidence(const RedshiftOptions& options);
/// Wide enough for whatever a job may find.
[[nodiscard]] RedshiftShape widest_shape(const RedshiftModels& models,
                                         const RedshiftOptions& options, std::size_t cameras);
/// As wide as these rows need.
[[nodiscard]] RedshiftShape shape_of(std::span<const RedshiftRow> rows,
                                     const RedshiftShape& widest);

/// A column of REDSHIFTS, and of the details under its name in lower case.
struct RedshiftColumn {
  using Integer = std::int64_t (*)(const RedshiftEntry&);
  using Number = double (*)(const RedshiftEntry&, std::size_t i);
  using Text = std::string (*)(const RedshiftEntry&);
  std::string name;
  Cell cell;
  std::variant<Integer, Number, Text> value;
  std::size_t (*width)(const RedshiftShape&) = nullptr;  ///< null: 1; 0 of it: no such column
  const char* unit = "";
  bool (*there)(const RedshiftShape&) = nullptr;  ///< null: always
  /// Rows of a matrix that a list is, one camera after the other; null: it is none.
  std::size_t (*matrix_rows)(const RedshiftShape&) = nullptr;
  /// Values in a row; 0: the table has no such column.
  [[nodiscard]] std::size_t values(const RedshiftShape& shape) const {
    if (there != nullptr && !there(shape)) return 0;
    return width == nullptr ? 1 : width(shape);
  }
};
/// All of them: redrock's in its order, then ours.
[[nodiscard]] std::span<const RedshiftColumn> redshift_columns();

[[nodiscard]] Table redshift_table(std::span<const RedshiftRow> rows, const RedshiftShape& shape);
/// The best candidates of each target, best first: redrock's columns, ZNUM and probabilities.
[[nodiscard]] Table candidate_table(std::span<const RedshiftRow> rows, RedshiftShape shape);

/// Templates with versions and hashes, what of the input's header travels, the program.
[[nodiscard]] HeaderCards redshift_header(const RedshiftModels& models, const RedshiftJob& job,
                                          const HeaderCards& input);

}  // namespace fiberloom
