// SPDX-License-Identifier: BSD-3-Clause
#include "loom/db/postgres_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace loom::db {
namespace {

// OIDs of built-in types: they never change (catalog/pg_type.dat).
constexpr unsigned kBool = 16, kInt8 = 20, kInt2 = 21, kInt4 = 23, kOid = 26, kFloat4 = 700,
                   kFloat8 = 701, kNumeric = 1700, kTextType = 25;

template <class T>
std::string digits(T value) {
  std::array<char, 40> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

std::string number_text(double value) {
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return digits(value);
}

double number_of_text(std::string_view text) {
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  double out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

}  // namespace

std::optional<std::string> to_postgres(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return digits(*integer);
  if (const auto* number = std::get_if<double>(&value)) {
    if (std::isnan(*number)) return std::nullopt;
    return number_text(*number);
  }
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return std::nullopt;
}

void append_copy_field(std::string& line, const Value& value) {
  const std::optional<std::string> text = to_postgres(value);
  if (!text) {
    line += "\\N";
    return;
  }
  for (const char c : *text) {
    switch (c) {
      case '\\':
        line += "\\\\";
        break;
      case '\t':
        line += "\\t";
        break;
      case '\n':
        line += "\\n";
        break;
      case '\r':
        line += "\\r";
        break;
      default:
        line += c;
    }
  }
}

Value from_postgres(std::string_view text, unsigned type) {
  switch (type) {
    case kBool:
      return std::int64_t{text == "t"};
    case kInt2:
    case kInt4:
    case kInt8:
    case kOid: {
      std::int64_t out = 0;
      std::from_chars(text.data(), text.data() + text.size(), out);
      return out;
    }
    case kNumeric: {
      // sum() of integers is one: an integer stays one
      std::int64_t out = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
      if (error == std::errc() && end == text.data() + text.size()) return out;
      return number_of_text(text);
    }
    case kFloat4:
    case kFloat8:
      return number_of_text(text);
    default:
      return std::string(text);
  }
}

Declared declared_by_oid(unsigned type) noexcept {
  switch (type) {
    case kBool:
    case kInt2:
    case kInt4:
    case kInt8:
    case kOid:
      return Declared::kInteger;
    case kFloat4:
    case kFloat8:
      return Declared::kNumber;
    case kTextType:
      return Declared::kText;
    default:
      return Declared::kNothing;
  }
}

}  // namespace loom::db
