// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift/redshift_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "fiberloom/recipes/redshift/redshift_option_table.hpp"
#include "fiberloom/recipes/redshift/tables_of_targets.hpp"
#include "fiberloom/recipes/version.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {
namespace {

double at(const std::vector<double>& values, std::size_t i) {
  return i < values.size() ? values[i] : 0;
}

using Entry = RedshiftEntry;
using Shape = RedshiftShape;
using Integer = RedshiftColumn::Integer;
using Number = RedshiftColumn::Number;
using Text = RedshiftColumn::Text;

constexpr Integer integer(Integer f) { return f; }
constexpr Number number(Number f) { return f; }
constexpr Text text(Text f) { return f; }

constexpr bool with_probabilities(const Shape& s) { return s.probabilities; }
constexpr bool with_lines(const Shape& s) { return s.lines; }

/// A number that evidence gives.
RedshiftColumn probability(const char* name, Number value, const char* unit = "") {
  return {name, Cell::kFloat64, value, nullptr, unit, with_probabilities};
}

/// A cut of users.
RedshiftColumn cut(const char* name, Integer value) {
  return {name, Cell::kTruth, value, nullptr, "", with_lines};
}
template <std::uint32_t bit>
std::int64_t passes(const Entry& r) {
  return (r.fit.quality & bit) != 0;
}

template <std::size_t line, double redshift::LineFlux::*member>
double of_line(const Entry& r, std::size_t) {
  return line < r.fit.lines.size() ? r.fit.lines[line].*member : 0;
}

constexpr std::size_t kLineNames = 6;

/// Flux, its inverse variance and the width of each line, as desispec names them.
template <std::size_t... line>
void add_lines(std::vector<RedshiftColumn>& out, std::index_sequence<line...>) {
  using redshift::LineFlux;
  const std::vector<std::string> names = redshift::line_names();
  const auto add = [&](std::size_t at, const char* what, Number value, const char* unit) {
    out.push_back({names.at(at) + what, Cell::kFloat32, value, nullptr, unit, with_lines});
  };
  ((add(line, "_FLUX", of_line<line, &LineFlux::flux>, ""),
    add(line, "_FLUX_IVAR", of_line<line, &LineFlux::ivar>, ""),
    add(line, "_SIGMA", of_line<line, &LineFlux::sigma_kms>, "km/s")),
   ...);
}

/// A new column is a row here.
const RedshiftColumn kColumns[] = {
    {"TARGETID", Cell::kInt64, integer([](const Entry& r) { return r.id; })},
    {"Z", Cell::kFloat64, number([](const Entry& r, std::size_t) { return r.fit.z; })},
    {"ZERR", Cell::kFloat32, number([](const Entry& r, std::size_t) { return r.fit.zerr; })},
    {"ZWARN", Cell::kInt32,
     integer([](const Entry& r) { return static_cast<std::int64_t>(r.fit.zwarn); })},
    {"CHI2", Cell::kFloat32, number([](const Entry& r, std::size_t) { return r.fit.chi2; })},
    {"COEFF", Cell::kFloat32,
     number([](const Entry& r, std::size_t i) { return at(r.fit.coefficients, i); }),
     [](const Shape& s) { return s.coefficients; }},
    {"LEGCOEFF", Cell::kFloat64,
     number([](const Entry& r, std::size_t i) { return at(r.fit.legendre, i); }),
     [](const Shape& s) { return s.archetypes ? s.legendre : 0; }, "", nullptr,
     [](const Shape& s) { return s.cameras; }},
    {"FITMETHOD", Cell::kText, text([](const Entry& r) { return r.fit.method; }),
     [](const Shape&) { return std::size_t{4}; }},
    {"NPIXELS", Cell::kInt32,
     integer([](const Entry& r) { return static_cast<std::int64_t>(r.fit.good_pixels); })},
    {"SPECTYPE", Cell::kText, text([](const Entry& r) { return r.fit.spectype; }),
     [](const Shape&) { return std::size_t{6}; }},
    {"SUBTYPE", Cell::kText, text([](const Entry& r) { return r.fit.subtype; }),
     [](const Shape& s) { return s.subtype; }},
    {"NCOEFF", Cell::kInt16,
     integer([](const Entry& r) { return static_cast<std::int64_t>(r.fit.coefficients.size()); })},
    {"ZNUM", Cell::kInt16,
     integer([](const Entry& r) { return static_cast<std::int64_t>(r.number); }), nullptr, "",
     [](const Shape& s) { return s.number; }},
    {"DELTACHI2", Cell::kFloat32,
     number([](const Entry& r, std::size_t) { return r.fit.delta_chi2; })},
    {"PCA_COEFF", Cell::kFloat64, number([](const Entry& r, std::size_t i) {
       const bool archetype = r.fit.method == "ARCH";
       return at(archetype ? r.fit.template_coefficients : r.fit.coefficients, i);
     }),
     [](const Shape& s) { return s.archetypes ? s.template_coefficients : 0; }},
    {"PCA_SPECTYPE", Cell::kText, text([](const Entry& r) { return r.fit.spectype; }),
     [](const Shape& s) { return s.archetypes ? std::size_t{6} : 0; }},
    {"PCA_SUBTYPE", Cell::kText, text([](const Entry& r) {
       return r.fit.method == "ARCH" ? r.fit.template_subtype : r.fit.subtype;
     }),
     [](const Shape& s) { return s.archetypes ? std::size_t{3} : 0; }},
    probability("PROBABILITY", [](const Entry& r, std::size_t) { return r.fit.probability; }),
    probability("CLASS_PROBABILITY",
                [](const Entry& r, std::size_t) { return r.fit.class_probability; }),
    probability("POSTERIOR_ZERR", [](const Entry& r, std::size_t) { return r.fit.posterior_zerr; }),
    probability("LOG_EVIDENCE", [](const Entry& r, std::size_t) { return r.fit.evidence; }),
    cut("GOOD_Z_BGS", passes<redshift::quality::kBgs>),
    cut("GOOD_Z_LRG", passes<redshift::quality::kLrg>),
    cut("GOOD_Z_ELG", passes<redshift::quality::kElg>),
    cut("GOOD_Z_QSO", passes<redshift::quality::kQso>),
};

template <class T>
void append(Column& column, T value) {
  const std::size_t size = column.data.size();
  column.data.resize(size + sizeof(T));
  std::memcpy(column.data.data() + size, &value, sizeof(T));
}

void append_integer(Column& column, std::int64_t value) {
  if (column.cell == Cell::kTruth) return append(column, value != 0 ? 'T' : 'F');
  if (column.cell == Cell::kInt16) return append(column, static_cast<std::int16_t>(value));
  if (column.cell == Cell::kInt32) return append(column, static_cast<std::int32_t>(value));
  append(column, value);
}

void append_number(Column& column, double value) {
  if (!std::isfinite(value)) value = 0;  // no NaN in the table
  if (column.cell == Cell::kFloat32) return append(column, to_float(value));
  append(column, value);
}

void append_text(Column& column, const std::string& value) {
  const std::size_t n = std::min(value.size(), column.width);
  column.data.insert(column.data.end(), value.begin(),
                     value.begin() + static_cast<std::ptrdiff_t>(n));
  column.data.insert(column.data.end(), column.width - n, std::uint8_t{' '});
}

/// Texts of a subtype, as redrock's tables have them.
constexpr std::size_t kSubtype = 20;

Table table_of(std::span<const RedshiftEntry> rows, const RedshiftShape& shape) {
  Table out;
  out.rows = rows.size();
  for (const RedshiftColumn& rule : redshift_columns()) {
    const std::size_t width = rule.values(shape);
    if (width == 0) continue;
    Column column{.name = rule.name, .unit = rule.unit, .cell = rule.cell, .width = width};
    const std::size_t lines = rule.matrix_rows == nullptr ? 0 : rule.matrix_rows(shape);
    if (lines > 0) column.shape = {width / lines, lines};
    for (const RedshiftEntry& row : rows) {
      if (const auto* get = std::get_if<Integer>(&rule.value)) append_integer(column, (*get)(row));
      if (const auto* get = std::get_if<Text>(&rule.value)) append_text(column, (*get)(row));
      if (const auto* get = std::get_if<Number>(&rule.value)) {
        for (std::size_t i = 0; i < width; ++i) append_number(column, (*get)(row, i));
      }
    }
    out.columns.push_back(std::move(column));
  }
  return out;
}

std::string numbered(const char* key, std::size_t i) { return print("%s%02zu", key, i); }

}  // namespace

void apply_verdict(std::uint32_t zwarn, redshift::Candidate& c) {
  c.zwarn |= zwarn;
  if ((c.zwarn & redshift::zwarn::kNoData) == 0) {
    if (!c.lines.empty()) set_quality(c);  // ZWARN decides them
    return;
  }
  c.evidence = c.probability = c.class_probability = c.posterior_zerr = 0;
  c.lines.clear();
  c.quality = 0;
  c.z = 0;
  c.spectype = "GALAXY";
  c.subtype.clear();
  c.method = "NONE";
  std::fill(c.coefficients.begin(), c.coefficients.end(), 0.0);
}

bool has_evidence(const RedshiftOptions& options) {
  return options.evidence && options.method != RedshiftMethod::kRedrock;
}

RedshiftShape widest_shape(const RedshiftModels& models, const RedshiftOptions& options,
                           std::size_t cameras) {
  RedshiftShape shape;
  shape.archetypes = !models.archetypes.empty();
  shape.probabilities = shape.lines = has_evidence(options);
  for (const redshift::Template& t : models.templates) {
    shape.template_coefficients = std::max(shape.template_coefficients, t.nbasis());
  }
  const auto nearest = static_cast<std::size_t>(std::max(options.nearest, 1));
  const bool each = options.legendre_percamera != PerCamera::kNo && cameras > 1;
  const auto terms = static_cast<std::size_t>(std::max(options.legendre_terms, 0));
  shape.legendre = options.no_legendre ? 0 : terms * (each ? cameras : 1);
  shape.cameras = each ? cameras : 0;
  // redrock's rule: room for the archetypes with the terms of each camera
  const std::size_t with_terms = nearest + (each ? shape.legendre : 0);
  shape.coefficients = std::max(shape.template_coefficients, shape.archetypes ? with_terms : 1);
  shape.subtype = shape.archetypes ? kSubtype * nearest : kSubtype;
  return shape;
}

RedshiftShape shape_of(std::span<const RedshiftRow> rows, const RedshiftShape& widest) {
  RedshiftShape shape = widest;
  shape.subtype = 3;
  std::size_t fewest = SIZE_MAX, most = 0;
  for (const RedshiftRow& row : rows) {
    fewest = std::min(fewest, row.fewest);
    most = std::max(most, row.most);
    shape.subtype = std::max(shape.subtype, row.best.subtype.size());
  }
  // redrock's rule: as wide as anything might be, but where all fits have equally many
  if (fewest == most && most > 0) shape.coefficients = most;
  return shape;
}

std::span<const RedshiftColumn> redshift_columns() {
  static const std::vector<RedshiftColumn> all = [] {
    std::vector<RedshiftColumn> out(std::begin(kColumns), std::end(kColumns));
    add_lines(out, std::make_index_sequence<kLineNames>());
    return out;
  }();
  return all;
}

Table redshift_table(std::span<const RedshiftRow> rows, const RedshiftShape& shape) {
  std::vector<RedshiftEntry> entries;
  entries.reserve(rows.size());
  for (const RedshiftRow& row : rows) entries.push_back({row.id, row.best, 0});
  return table_of(entries, shape);
}

Table candidate_table(std::span<const RedshiftRow> rows, RedshiftShape shape) {
  shape.lines = false;
  shape.number = true;
  std::vector<RedshiftEntry> entries;
  for (const RedshiftRow& row : rows) {
    entries.push_back({row.id, row.best, 0});
    for (std::size_t k = 0; k < row.others.size(); ++k) {
      entries.push_back({row.id, row.others[k], k + 1});
      shape.subtype = std::max(shape.subtype, row.others[k].subtype.size());
    }
  }
  return table_of(entries, shape);
}

HeaderCards redshift_header(const RedshiftModels& models, const RedshiftJob& job,
                            const HeaderCards& input) {
  HeaderCards out;
  out.set("LONGSTRN", "OGIP 1.0", "long strings may be continued");
  out.set("RRVER", "fiberloom " + std::string(version()), "program and version");
  out.set("RRMETHOD", redshift_method_name(job.options.method), "fast, exact, or redrock's rules");
  for (std::size_t i = 0; i < models.templates.size(); ++i) {
    const redshift::Template& t = models.templates[i];
    out.set(numbered("TEMNAM", i), t.full_type());
    out.set(numbered("TEMVER", i), t.version);
    out.set(numbered("TEMFIL", i), t.file.empty() ? "built-in" : t.file);
    out.set(numbered("TEMSHA", i), t.hash, "SHA-256");
  }
  for (std::size_t i = 0; i < models.archetypes.size(); ++i) {
    const redshift::Archetypes& a = models.archetypes[i];
    out.set(numbered("ARCNAM", i), a.spectype);
    out.set(numbered("ARCVER", i), a.version);
    out.set(numbered("ARCFIL", i), a.file);
    out.set(numbered("ARCSHA", i), a.hash, "SHA-256");
  }
  out.set("DEPNAM00", "fiberloom");
  out.set("DEPVER00", std::string(version()));
  for (const char* key : group_keywords()) {
    for (const std::string& card : input.cards) {
      if (fits::card_keyword(card) == key) out.cards.push_back(card);
    }
  }
  return out;
}

}  // namespace fiberloom
