// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift_page/page_columns.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <string>

#include "loom/base/print.hpp"
#include "loom/page/page.hpp"

namespace fiberloom::redshift_page {
namespace {

/// What of a fibermap is worth a column; everything is shown with its target.
constexpr const char* kOfFibermap[] = {
    "TARGET_RA",  "TARGET_DEC", "OBJTYPE", "DESI_TARGET", "BGS_TARGET",
    "MWS_TARGET", "FLUX_G",     "FLUX_R",  "FLUX_Z",      "FIBER",
    "PETAL_LOC",  "TILEID",     "EXPID",   "NIGHT",       "COADD_FIBERSTATUS"};
/// Not for a table of the page: one number is no row, and coefficients say nothing to the eye.
bool is_single(const Column& c) {
  if (c.cell == Cell::kOpaque) return false;
  return c.cell == Cell::kText || c.width == 1;
}

int digits_of(const Column& c) { return c.cell == Cell::kFloat64 ? 9 : 6; }

std::string text_of(const Column& c, std::size_t row) {
  std::string out(reinterpret_cast<const char*>(c.data.data()) + row * c.width, c.width);
  out.erase(std::min(out.find('\0'), out.size()));
  out.erase(out.find_last_not_of(' ') + 1);
  return page::to_utf8(out);
}

/// Integers beyond 2^53, which JavaScript's numbers do not hold, are texts.
Json whole_json(std::int64_t value) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  return std::abs(value) < kMost ? Json(value) : Json(std::to_string(value));
}

bool is_whole(const Column& c) {
  return c.cell != Cell::kFloat32 && c.cell != Cell::kFloat64 && c.scale == 1;
}

Json cell_json(const Table& table, const Column& c, std::size_t row) {
  if (c.cell == Cell::kText) return text_of(c, row);
  const double value = number_of(c, row);
  if (!std::isfinite(value)) return nullptr;
  if (c.cell == Cell::kTruth) return value != 0;
  if (!is_whole(c)) return digits(value, digits_of(c));
  const std::vector<std::size_t> one{row};
  return std::abs(value) < 0x1p53 ? Json(static_cast<std::int64_t>(value))
                                  : whole_json(table.take(one).integers(c.name, 0)->front());
}

const Column* of_file(const RedshiftFile& file, const std::string& name, const Table*& table) {
  for (const Table* t : {&file.redshifts, file.fibermap ? &*file.fibermap : nullptr}) {
    table = t;
    const Column* const found = t == nullptr ? nullptr : t->find(name);
    if (found != nullptr && is_single(*found)) return found;
  }
  return nullptr;
}

const char* kind_of(const Column& c) {
  if (c.cell == Cell::kText) return "text";
  if (c.cell == Cell::kTruth) return "truth";
  if (c.cell == Cell::kInt64 && c.name == "TARGETID") return "id";
  return is_whole(c) ? "integer" : "number";
}

/// A value that is written once and named by its place.
class Words {
 public:
  std::size_t code(const std::string& word) {
    const auto [at, is_new] = codes_.emplace(word, words_.size());
    if (is_new) words_.push_back(word);
    return at->second;
  }
  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }

 private:
  std::map<std::string, std::size_t> codes_;
  std::vector<std::string> words_;
};

Json column_json(std::span<const RedshiftFile> files, const std::string& name,
                 const Column& first) {
  const std::string kind = kind_of(first);
  Json values = Json::array();
  Words words;
  for (const RedshiftFile& file : files) {
    const Table* table = nullptr;
    const Column* const column = of_file(file, name, table);
    const bool fits = column != nullptr && kind_of(*column) == kind;
    const bool whole = fits && (kind == "id" || kind == "integer");
    const auto numbers = whole ? table->integers(name, INT64_MIN) : std::nullopt;
    for (std::size_t r = 0; r < file.redshifts.rows; ++r) {
      if (!fits) {
        values.push_back(nullptr);
      } else if (numbers) {
        const std::int64_t v = (*numbers)[r];
        values.push_back(v == INT64_MIN ? Json(nullptr)
                         : kind == "id" ? Json(std::to_string(v))
                                        : whole_json(v));
      } else if (kind == "text") {
        values.push_back(words.code(text_of(*column, r)));
      } else {
        const double value = number_of(*column, r);
        values.push_back(!std::isfinite(value) ? Json(nullptr)
                         : kind == "truth"     ? Json(value != 0)
                                               : Json(digits(value, digits_of(*column))));
      }
    }
  }
  Json out{{"name", page::to_utf8(name)},
           {"kind", kind},
           {"unit", page::to_utf8(first.unit)},
           {"values", std::move(values)}};
  if (kind == "text") out["words"] = words.words();
  return out;
}

}  // namespace

double digits(double value, int n) { return std::strtod(print("%.*g", n, value).c_str(), nullptr); }

Json columns_json(std::span<const RedshiftFile> files) {
  Json out = Json::array();
  std::set<std::string> seen;
  const auto add = [&](const std::string& name, const Column& column) {
    if (is_single(column) && seen.insert(name).second) {
      out.push_back(column_json(files, name, column));
    }
  };
  for (const RedshiftFile& file : files) {
    for (const Column& column : file.redshifts.columns) add(column.name, column);
  }
  for (const char* name : kOfFibermap) {
    for (const RedshiftFile& file : files) {
      const Column* const column = file.fibermap ? file.fibermap->find(name) : nullptr;
      if (column != nullptr) add(name, *column);
    }
  }
  return out;
}

Json facts_json(const RedshiftFile& file, std::size_t row) {
  Json out = Json::array();
  for (const std::optional<Table>* table : {&file.fibermap, &file.tsnr2}) {
    if (!*table) continue;
    for (const Column& column : (*table)->columns) {
      if (!is_single(column) || column.name == "TARGETID") continue;
      out.push_back(Json::array({page::to_utf8(column.name), cell_json(**table, column, row)}));
    }
  }
  return out;
}

}  // namespace fiberloom::redshift_page
