// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift_page/row_filter.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>

#include "fiberloom/foundation.hpp"
#include "loom/base/error.hpp"
#include "loom/base/letter_case.hpp"

namespace fiberloom::redshift_page {
namespace {

constexpr std::array<const char*, 8> kOperators{"==", "!=", "<=", ">=", "<", ">", "&", "="};

struct Condition {
  std::string name, op, value;
};

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// The conditions between "and", "&&" and commas.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> out(1);
  const std::string capitals = loom::in_capitals(text);
  for (std::size_t i = 0; i < text.size();) {
    const bool word = capitals.compare(i, 5, " AND ") == 0;
    if (word || text.compare(i, 2, "&&") == 0 || text[i] == ',') {
      out.emplace_back();
      i += word ? 5 : text[i] == ',' ? 1 : 2;
    } else {
      out.back() += text[i++];
    }
  }
  return out;
}

[[noreturn]] void fail(const std::string& option, const std::string& part,
                       const std::string& expected) {
  throw Error(Status::kUsage, option + " '" + part + "': expected " + expected);
}

Condition parse(const std::string& part, const std::string& option) {
  const std::size_t at = part.find_first_of("=!<>&");
  if (at != std::string::npos) {
    for (const std::string op : kOperators) {
      if (part.compare(at, op.size(), op) != 0) continue;
      Condition out{trimmed(part.substr(0, at)), op == "=" ? "==" : op,
                    trimmed(part.substr(at + op.size()))};
      if (!out.name.empty() && !out.value.empty()) return out;
    }
  }
  fail(option, trimmed(part), "NAME OP VALUE with OP one of == != < <= > >= &, as in ZWARN!=0");
}

bool compare(const std::string& op, int order) {
  if (op == "==") return order == 0;
  if (op == "!=") return order != 0;
  if (op == "<") return order < 0;
  if (op == "<=") return order <= 0;
  if (op == ">") return order > 0;
  return order >= 0;
}

template <class T>
std::optional<T> number(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Keeps those of `rows` for which the condition holds.
void keep(const Condition& c, const Table& table, const std::string& option,
          std::vector<std::size_t>& rows) {
  const auto drop = [&](auto&& holds) {
    std::erase_if(rows, [&](std::size_t r) { return !holds(r); });
  };
  const std::string said = c.name + " " + c.op + " " + c.value;
  if (const auto texts = table.text_column(c.name)) {
    if (c.op == "&") fail(option, said, "bits of a column of integers");
    const std::string wanted = loom::in_capitals(c.value);
    drop([&](std::size_t r) {
      return compare(c.op, loom::in_capitals((*texts)[r]).compare(wanted));
    });
    return;
  }
  const Column* const column = table.find(c.name);
  const bool truth = column->cell == Cell::kTruth && column->width == 1;
  if (truth) {
    const std::string word = loom::in_capitals(c.value);
    const bool wanted = word == "1" || word == "T" || word == "TRUE";
    if (!wanted && word != "0" && word != "F" && word != "FALSE")
      fail(option, said, "true or false");
    drop([&](std::size_t r) {
      return compare(c.op, (column->data[r] == 'T' ? 1 : 0) - (wanted ? 1 : 0));
    });
    return;
  }
  if (c.op == "&") {
    const auto bits = number<std::uint64_t>(c.value);
    const auto values = table.integers(c.name, 0);
    const bool whole = column->cell != Cell::kFloat32 && column->cell != Cell::kFloat64;
    if (!bits || !values || !whole) fail(option, said, "bits of a column of integers");
    drop([&](std::size_t r) { return (static_cast<std::uint64_t>((*values)[r]) & *bits) != 0; });
    return;
  }
  const auto whole = number<std::int64_t>(c.value);
  if (whole && (column->cell == Cell::kInt64)) {  // TARGETID: all 64 bits of it
    const auto values = table.integers(c.name, INT64_MIN);
    if (values) {
      drop([&](std::size_t r) {
        return compare(c.op, (*values)[r] < *whole ? -1 : (*values)[r] > *whole ? 1 : 0);
      });
      return;
    }
  }
  const auto value = number<double>(c.value);
  const auto values = table.column(c.name);
  if (!values) fail(option, said, "a column of single numbers or texts");
  if (!value || std::isnan(*value)) fail(option, said, "a number");
  drop([&](std::size_t r) {
    const double v = (*values)[r];
    if (std::isnan(v)) return c.op == "!=";
    return compare(c.op, v < *value ? -1 : v > *value ? 1 : 0);
  });
}

}  // namespace

std::vector<std::size_t> matching_rows(const std::string& conditions,
                                       std::span<const Table* const> tables,
                                       const std::string& option) {
  std::vector<std::size_t> rows(tables.front()->rows);
  for (std::size_t r = 0; r < rows.size(); ++r) rows[r] = r;
  if (trimmed(conditions).empty()) return rows;
  for (const std::string& part : parts_of(conditions)) {
    const Condition c = parse(part, option);
    const auto found = std::find_if(tables.begin(), tables.end(), [&](const Table* t) {
      return t != nullptr && t->find(c.name) != nullptr;
    });
    if (found == tables.end()) fail(option, trimmed(part), "a column of REDSHIFTS or FIBERMAP");
    keep(c, **found, option, rows);
  }
  return rows;
}

}  // namespace fiberloom::redshift_page
