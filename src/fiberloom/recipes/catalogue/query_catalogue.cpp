// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/catalogue/query_catalogue.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "fiberloom/catalogue/catalogue.hpp"
#include "fiberloom/catalogue/errors.hpp"
#include "fiberloom/formats/tables.hpp"
#include "fiberloom/recipes/catalogue/answer_parquet.hpp"
#include "fiberloom/recipes/catalogue/which_catalogue.hpp"
#include "fiberloom/recipes/version.hpp"
#include "loom/base/error.hpp"
#include "loom/base/letter_case.hpp"
#include "loom/files/output_files.hpp"
#include "loom/fits/fits_writer.hpp"

namespace fiberloom {
namespace {

using catalogue::Catalogue;
using catalogue::Selection;

db::Query asked_query(const QueryJob& job, const Observer& observer) {
  db::Query query;
  if (job.sql.empty()) {
    query = catalogue::query_of(job.selection);
  } else {
    query.sql = job.sql;
  }
  query.seconds = job.seconds;
  query.stop = observer.stop_requested;
  return query;
}

template <class Answer>
std::size_t read_into(Answer& answer, const QueryJob& job, const Observer& observer) {
  return catalogue::with_exit_codes([&] {
    const Catalogue catalogue(job.database, {db::Access::kRead, job.wait_s});
    std::size_t rows = 0;
    db::RowTaker taker;
    taker.columns = [&](auto names) { answer.columns(names); };
    taker.row = [&](std::span<const db::Value> values) {
      answer.row(values);
      ++rows;
      return true;
    };
    if constexpr (std::is_same_v<Answer, AnswerColumns>) {
      taker.types = [&](auto types) { answer.types(types); };
    }
    catalogue.connection().read(asked_query(job, observer), taker);
    return rows;
  });
}

std::string creator() { return "fiberloom " + std::string(version()); }

void write_answer(const std::string& path, const char* name, const Table& table,
                  Overwrite overwrite) {
  RawTable raw = to_raw_table(table);
  raw.header.set("CREATOR", creator());
  fits::write_fits(path, overwrite, [&](fits::FitsWriter& writer) { writer.table(name, raw); });
}

/// How the field's catalogues store a column.
struct StoredAs {
  const char* name;  ///< in the file
  Cell cell;
};
constexpr std::array<StoredAs, 22> kStored{{{"TARGETID", Cell::kInt64},
                                            {"SPGRPVAL", Cell::kInt32},
                                            {"NIGHT", Cell::kInt32},
                                            {"TILEID", Cell::kInt32},
                                            {"HEALPIX", Cell::kInt32},
                                            {"PETAL", Cell::kInt16},
                                            {"ZWARN", Cell::kInt64},
                                            {"NPIXELS", Cell::kInt64},
                                            {"NCOEFF", Cell::kInt64},
                                            {"Z", Cell::kFloat64},
                                            {"ZERR", Cell::kFloat64},
                                            {"CHI2", Cell::kFloat64},
                                            {"COEFF", Cell::kFloat64},
                                            {"DELTACHI2", Cell::kFloat64},
                                            {"TARGET_RA", Cell::kFloat64},
                                            {"TARGET_DEC", Cell::kFloat64},
                                            {"COADD_FIBERSTATUS", Cell::kInt32},
                                            {"COADD_NUMEXP", Cell::kInt16},
                                            {"COADD_NUMNIGHT", Cell::kInt16},
                                            {"COADD_NUMTILE", Cell::kInt16},
                                            {"ZCAT_NSPEC", Cell::kInt16},
                                            {"ZCAT_PRIMARY", Cell::kTruth}}};

Cell stored_cell(const std::string& name, AnswerColumns::Column::Kind kind) {
  for (const StoredAs& stored : kStored) {
    if (name == stored.name) return stored.cell;
  }
  if (name.starts_with("GOOD_Z_")) return Cell::kTruth;
  if (name.starts_with("COEFF_")) return Cell::kFloat64;
  return kind == AnswerColumns::Column::Kind::kInteger ? Cell::kInt64 : Cell::kFloat32;
}

/// Do all values fit? Those that do not would lose their bits.
bool fits_into(Cell cell, const AnswerColumns::Column& column) {
  const bool two = cell == Cell::kInt16;
  if (!two && cell != Cell::kInt32) return true;
  const std::int64_t most = two ? 32767 : 2147483647;
  return std::all_of(column.integers.begin(), column.integers.end(),
                     [&](std::int64_t v) { return v >= -most - 1 && v <= most; });
}

template <class T>
void put_stored(Column& column, std::size_t at, double value) {
  const T stored = static_cast<T>(value);
  std::memcpy(column.data.data() + at * sizeof(T), &stored, sizeof(T));
}

/// What is NULL is -1 in a column of integers, as the field has it, 'F' in one of truth values, NaN
/// in one of numbers.
void put_stored(Column& column, std::size_t at, const AnswerColumns::Column& from,
                std::size_t row) {
  using Kind = AnswerColumns::Column::Kind;
  const bool known = from.known[row];
  const std::int64_t integer = known && from.kind == Kind::kInteger ? from.integers[row] : -1;
  double number = std::numeric_limits<double>::quiet_NaN();
  if (known)
    number = from.kind == Kind::kInteger ? static_cast<double>(integer) : from.numbers[row];
  switch (column.cell) {
    case Cell::kTruth:
      column.data[at] = known && integer > 0 ? 'T' : 'F';
      return;
    case Cell::kInt16:
      return put_stored<std::int16_t>(column, at, static_cast<double>(integer));
    case Cell::kInt32:
      return put_stored<std::int32_t>(column, at, static_cast<double>(integer));
    case Cell::kInt64:
      std::memcpy(column.data.data() + at * sizeof integer, &integer, sizeof integer);
      return;
    case Cell::kFloat32:
      return put_stored<float>(column, at, number);
    default:
      return put_stored<double>(column, at, number);
  }
}

void add_text(Table& out, const AnswerColumns::Column& from) {
  std::size_t width = from.name == "spectype" ? 6 : 1;
  for (const std::string& text : from.texts) width = std::max(width, text.size());
  out.add(loom::in_capitals(from.name), std::span<const std::string>(from.texts), width);
}

/// One column of the file from one of the answer, or from all coeff_N.
void add_numbers(Table& out, const std::string& name,
                 std::span<const AnswerColumns::Column* const> from) {
  Column column{.name = name, .cell = stored_cell(name, from[0]->kind), .width = from.size()};
  if (!fits_into(column.cell, *from[0])) column.cell = Cell::kInt64;
  if (name == "TARGET_RA" || name == "TARGET_DEC") column.unit = "deg";
  column.data.resize(out.rows * from.size() * cell_bytes(column.cell));
  for (std::size_t r = 0; r < out.rows; ++r) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      put_stored(column, r * from.size() + i, *from[i], r);
      // a template with fewer vectors has zeros for those that it has not
      if (name == "COEFF" && !from[i]->known[r]) put_stored<double>(column, r * from.size() + i, 0);
    }
  }
  out.columns.push_back(std::move(column));
}

/// Columns of which no row knows anything are left out.
Table zcatalog_of(const AnswerColumns& answer) {
  using Kind = AnswerColumns::Column::Kind;
  Table out;
  out.rows = answer.rows();
  std::vector<const AnswerColumns::Column*> coefficients;
  for (const AnswerColumns::Column& c : answer.all()) {
    if (c.name.starts_with("coeff_")) coefficients.push_back(&c);
  }
  while (!coefficients.empty() && coefficients.back()->kind == Kind::kNothing) {
    coefficients.pop_back();
  }
  // A list of all from the first on; some of them stay what they are called.
  bool list = true;
  for (std::size_t i = 0; i < coefficients.size(); ++i) {
    list = list && coefficients[i]->name == "coeff_" + std::to_string(i);
  }
  bool with_coefficients = false;
  for (const AnswerColumns::Column& c : answer.all()) {
    if (c.name == "groupid" || c.name == "rownumber") continue;  // of this database alone
    if (out.rows == 0 && c.name != "targetid") continue;
    if (list && c.name.starts_with("coeff_")) {
      if (!coefficients.empty() && !with_coefficients) add_numbers(out, "COEFF", coefficients);
      with_coefficients = true;
    } else if (c.kind == Kind::kText) {
      add_text(out, c);
    } else if (c.kind != Kind::kNothing || c.name == "targetid") {
      const AnswerColumns::Column* const one[] = {&c};
      add_numbers(out, loom::in_capitals(c.name), one);
    }
  }
  return out;
}

/// Throws kUsage for a name that says another format than the one that is written: whoever reads
/// the file goes by it.
void check_ending(const QueryJob& job) {
  struct Ending {
    const char* text;
    AnswerFormat format;
    const char* name;
  };
  static constexpr Ending kEndings[] = {{".fits", AnswerFormat::kFits, "fits"},
                                        {".parquet", AnswerFormat::kParquet, "parquet"},
                                        {".csv", AnswerFormat::kCsv, "csv"},
                                        {".json", AnswerFormat::kJson, "json"}};
  const std::string_view name = job.output;
  const auto unpacked = name.substr(0, name.size() - (loom::has_ending(name, ".gz") ? 3 : 0));
  for (const Ending& ending : kEndings) {
    if (!loom::has_ending(unpacked, ending.text) || ending.format == job.format) continue;
    throw Error(Status::kUsage, job.output + ": expected --format " + ending.name +
                                    " with this name, or another name");
  }
  if (job.format == AnswerFormat::kFits) return;  // the one that is packed where its name says so
  for (const char* packed : {".gz", ".fz", ".zip", ".bz2", ".xz", ".zst"}) {
    if (!loom::has_ending(job.output, packed)) continue;
    throw Error(Status::kUsage, job.output + ": expected a name without " + packed +
                                    ": answers are packed as FITS alone, .fits.gz");
  }
}

}  // namespace

void check_answer(const QueryJob& job) {
  check_ending(job);
  check_distinct(std::array{NamedFile{"answer", job.output}},
                 named("catalogue", files_of_catalogue(job.database)));
  check_output(job.output, job.overwrite);
}

std::size_t query_catalogue(const QueryJob& job, const TextSink& text, const Observer& observer) {
  const bool parquet = job.format == AnswerFormat::kParquet;
  if (job.format != AnswerFormat::kFits && !parquet) {
    const auto answer = answer_text(job.format, text);
    const std::size_t rows = read_into(*answer, job, observer);
    answer->end();
    return rows;
  }
  if (job.output.empty() || job.output == "-") {
    throw Error(Status::kUsage, std::string("catalogue query: --format ") +
                                    (parquet ? "parquet" : "fits") + " wants a file, -o FILE");
  }
  check_answer(job);
  AnswerColumns answer;
  const std::size_t rows = read_into(answer, job, observer);
  if (parquet) {
    const FolderOf folder(job.output);
    loom::parquet::write_parquet(job.output, to_parquet(answer), creator(), job.overwrite);
  } else {
    write_answer(job.output, "QUERY", to_table(answer), job.overwrite);
  }
  return rows;
}

AnswerColumns query_columns(const QueryJob& job, const Observer& observer) {
  AnswerColumns answer;
  (void)read_into(answer, job, observer);
  return answer;
}

std::size_t export_catalogue(const QueryJob& job, const Observer& observer) {
  const auto& names = job.selection.from;
  if (names != "zbest" && names != "zpix" && names != "ztile") {
    throw Error(Status::kUsage,
                "catalogue export: --from: found " + names + ", expected zbest, zpix or ztile");
  }
  check_answer(job);
  QueryJob all = job;
  if (all.selection.columns.empty()) all.selection.columns = {"*"};
  AnswerColumns answer;
  const std::size_t rows = read_into(answer, all, observer);
  const Table catalogue = zcatalog_of(answer);
  if (job.format == AnswerFormat::kParquet) {
    const FolderOf folder(job.output);
    loom::parquet::write_parquet(job.output, to_parquet(catalogue), creator(), job.overwrite);
  } else {
    write_answer(job.output, "ZCATALOG", catalogue, job.overwrite);
  }
  return rows;
}

}  // namespace fiberloom
