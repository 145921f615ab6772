// SPDX-License-Identifier: BSD-3-Clause
// The recipes of `fiberloom catalogue query` and `export`: what a catalogue has, as text, FITS or a
// table in memory. A catalogue is opened so that nothing can be written to it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fiberloom/catalogue/selection.hpp"
#include "fiberloom/recipes/catalogue/answer.hpp"
#include "loom/base/log.hpp"
#include "loom/files/atomic_file.hpp"

namespace fiberloom {

struct QueryJob {
  std::string database;  ///< path or URL
  std::string sql;       ///< a SELECT; empty: `selection`
  catalogue::Selection selection;
  AnswerFormat format = AnswerFormat::kTable;
  std::string output;  ///< of FITS and Parquet; of text `text` decides
  Overwrite overwrite = Overwrite::kYes;
  double seconds = 0;  ///< that the query may take; 0: any
  double wait_s = 10;  ///< for the locks of others
};

/// Throws kUsage where the answer would replace the catalogue itself, and what a file that cannot
/// be written does.
void check_answer(const QueryJob& job);

/// Text goes to `text`. How many rows. Throws kUsage for a job that is none, kBadQuery,
/// kNewerSchema, kCatalogueBusy, kServerGone, kNotFound, and what writing does.
std::size_t query_catalogue(const QueryJob& job, const TextSink& text, const Observer& observer);

/// The same in memory.
[[nodiscard]] AnswerColumns query_columns(const QueryJob& job, const Observer& observer);

/// A catalogue of redshifts as the field's: HDU ZCATALOG with its column names and types, COEFF as
/// one column, rows in the order of targets. As Parquet (the one other format) the same columns,
/// COEFF_0 and so on. How many rows.
std::size_t export_catalogue(const QueryJob& job, const Observer& observer);

}  // namespace fiberloom
