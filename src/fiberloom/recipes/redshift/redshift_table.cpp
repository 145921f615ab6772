// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift/redshift_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "fiberloom/recipes/redshift/redshift_option_table.hpp"
#include "fiberloom/recipes/version.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {
namespace {

double at(const std::vector<double>& values, std::size_t i) {
  return i < values.size() ? values[i] : 0;
}

using Row = RedshiftRow;
using Shape = RedshiftShape;
using Integer = RedshiftColumn::Integer;
using Number = RedshiftColumn::Number;
using Text = RedshiftColumn::Text;

constexpr Integer integer(Integer f) { return f; }
constexpr Number number(Number f) { return f; }
constexpr Text text(Text f) { return f; }

/// A new column is a row here.
const RedshiftColumn kColumns[] = {
    {"TARGETID", Cell::kInt64, integer([](const Row& r) { return r.id; })},
    {"Z", Cell::kFloat64, number([](const Row& r, std::size_t) { return r.best.z; })},
    {"ZERR", Cell::kFloat32, number([](const Row& r, std::size_t) { return r.best.zerr; })},
    {"ZWARN", Cell::kInt32,
     integer([](const Row& r) { return static_cast<std::int64_t>(r.best.zwarn); })},
    {"CHI2", Cell::kFloat32, number([](const Row& r, std::size_t) { return r.best.chi2; })},
    {"COEFF", Cell::kFloat32,
     number([](const Row& r, std::size_t i) { return at(r.best.coefficients, i); }),
     [](const Shape& s) { return s.coefficients; }},
    {"LEGCOEFF", Cell::kFloat64,
     number([](const Row& r, std::size_t i) { return at(r.best.legendre, i); }),
     [](const Shape& s) { return s.archetypes ? s.legendre : 0; }},
    {"FITMETHOD", Cell::kText, text([](const Row& r) { return r.best.method; }),
     [](const Shape&) { return std::size_t{4}; }},
    {"NPIXELS", Cell::kInt32,
     integer([](const Row& r) { return static_cast<std::int64_t>(r.best.good_pixels); })},
    {"SPECTYPE", Cell::kText, text([](const Row& r) { return r.best.spectype; }),
     [](const Shape&) { return std::size_t{6}; }},
    {"SUBTYPE", Cell::kText, text([](const Row& r) { return r.best.subtype; }),
     [](const Shape& s) { return s.subtype; }},
    {"NCOEFF", Cell::kInt16,
     integer([](const Row& r) { return static_cast<std::int64_t>(r.best.coefficients.size()); })},
    {"DELTACHI2", Cell::kFloat32,
     number([](const Row& r, std::size_t) { return r.best.delta_chi2; })},
    {"PCA_COEFF", Cell::kFloat64, number([](const Row& r, std::size_t i) {
       const bool archetype = r.best.method == "ARCH";
       return at(archetype ? r.best.template_coefficients : r.best.coefficients, i);
     }),
     [](const Shape& s) { return s.archetypes ? s.template_coefficients : 0; }},
    {"PCA_SPECTYPE", Cell::kText, text([](const Row& r) { return r.best.spectype; }),
     [](const Shape& s) { return s.archetypes ? std::size_t{6} : 0; }},
    {"PCA_SUBTYPE", Cell::kText, text([](const Row& r) {
       return r.best.method == "ARCH" ? r.best.template_subtype : r.best.subtype;
     }),
     [](const Shape& s) { return s.archetypes ? std::size_t{3} : 0; }},
};

template <class T>
void append(Column& column, T value) {
  const std::size_t size = column.data.size();
  column.data.resize(size + sizeof(T));
  std::memcpy(column.data.data() + size, &value, sizeof(T));
}

void append_integer(Column& column, std::int64_t value) {
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

std::string numbered(const char* key, std::size_t i) { return print("%s%02zu", key, i); }

}  // namespace

void apply_verdict(std::uint32_t zwarn, redshift::Candidate& c) {
  c.zwarn |= zwarn;
  if ((c.zwarn & redshift::zwarn::kNoData) == 0) return;
  c.z = 0;
  c.spectype = "GALAXY";
  c.subtype.clear();
  c.method = "NONE";
  std::fill(c.coefficients.begin(), c.coefficients.end(), 0.0);
}

RedshiftShape widest_shape(const RedshiftModels& models, const RedshiftOptions& options,
                           std::size_t cameras) {
  RedshiftShape shape;
  shape.archetypes = !models.archetypes.empty();
  for (const redshift::Template& t : models.templates) {
    shape.template_coefficients = std::max(shape.template_coefficients, t.nbasis());
  }
  const auto nearest = static_cast<std::size_t>(std::max(options.nearest, 1));
  const bool each = options.legendre_percamera != PerCamera::kNo && cameras > 1;
  const auto terms = static_cast<std::size_t>(std::max(options.legendre_terms, 0));
  shape.legendre = options.no_legendre ? 0 : terms * (each ? cameras : 1);
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

std::span<const RedshiftColumn> redshift_columns() { return kColumns; }

Table redshift_table(std::span<const RedshiftRow> rows, const RedshiftShape& shape) {
  Table out;
  out.rows = rows.size();
  for (const RedshiftColumn& rule : kColumns) {
    const std::size_t width = rule.width == nullptr ? 1 : rule.width(shape);
    if (width == 0) continue;
    Column column{.name = rule.name, .unit = rule.unit, .cell = rule.cell, .width = width};
    for (const RedshiftRow& row : rows) {
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
    out.set(numbered("TEMFIL", i), t.file);
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
  for (const char* key : {"SPGRP", "SPGRPVAL", "TILEID", "SPECTRO", "PETAL", "NIGHT", "EXPID",
                          "HPXPIXEL", "HPXNSIDE", "HPXNEST", "SURVEY", "PROGRAM", "FAPRGRM"}) {
    for (const std::string& card : input.cards) {
      if (fits::card_keyword(card) == key) out.cards.push_back(card);
    }
  }
  return out;
}

}  // namespace fiberloom
