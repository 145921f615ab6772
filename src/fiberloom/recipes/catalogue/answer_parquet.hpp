// SPDX-License-Identifier: BSD-3-Clause
// Answers of the catalogue, and tables as FITS has them, as columns of a Parquet file.
#pragma once

#include <vector>

#include "fiberloom/recipes/catalogue/answer.hpp"
#include "fiberloom/spectrum/table.hpp"
#include "loom/parquet/parquet.hpp"

namespace fiberloom {

/// int64, double and text, NULL as such; a column of nothing but NULL is one of double. Of columns
/// of one name the second is NAME_2 and so on.
[[nodiscard]] std::vector<loom::parquet::Column> to_parquet(const AnswerColumns& answer);

/// Numbers in the types that they are stored in, truth values as such; of a column of lists NAME_0,
/// NAME_1 ... Blanks at the end of texts are taken off.
[[nodiscard]] std::vector<loom::parquet::Column> to_parquet(const Table& table);

}  // namespace fiberloom
