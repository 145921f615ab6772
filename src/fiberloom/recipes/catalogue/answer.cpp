// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/catalogue/answer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "fiberloom/foundation.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/fits/header_cards.hpp"
#include "loom/json/json.hpp"

namespace fiberloom {
namespace {

using db::Value;

/// Of columns of one name the second is NAME_2: a reader that knows them by name would lose one.
std::vector<std::string> names_of_their_own(std::span<const std::string> names) {
  std::set<std::string> taken;
  std::vector<std::string> out;
  for (const std::string& name : names) {
    std::string its = name;
    for (int k = 2; !taken.insert(its).second; ++k) its = name + "_" + std::to_string(k);
    out.push_back(std::move(its));
  }
  return out;
}

class Csv final : public AnswerText {
 public:
  explicit Csv(TextSink sink) : sink_(std::move(sink)) {}
  void columns(std::span<const std::string> names) override {
    std::string line;
    for (const std::string& name : names) line += (line.empty() ? "" : ",") + quoted(name);
    sink_(line + "\n");
  }
  void row(std::span<const Value> values) override {
    std::string line;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) line += ',';
      if (const auto* integer = std::get_if<std::int64_t>(&values[i])) {
        line += std::to_string(*integer);
      } else if (const auto* number = std::get_if<double>(&values[i])) {
        line += number_text(*number);
      } else if (const auto* text = std::get_if<std::string>(&values[i])) {
        line += quoted(*text);
      }
    }
    sink_(line + "\n");
  }
  void end() override {}

 private:
  static std::string quoted(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + '"';
  }
  TextSink sink_;
};

class JsonRows final : public AnswerText {
 public:
  explicit JsonRows(TextSink sink) : sink_(std::move(sink)) {}
  void columns(std::span<const std::string> names) override {
    for (const std::string& name : names_of_their_own(names)) {
      names_.push_back(Json(name).scalar_text(JsonText::kUtf8));
    }
  }
  void row(std::span<const Value> values) override {
    std::string line = first_ ? "[\n" : ",\n";
    first_ = false;
    for (std::size_t i = 0; i < values.size(); ++i) {
      line += (i == 0 ? "{" : ", ") + names_[i] + ": " + text_of(values[i]);
    }
    sink_(line + (values.empty() ? "{}" : "}"));
  }
  void end() override { sink_(first_ ? "[]\n" : "\n]\n"); }

 private:
  static std::string text_of(const Value& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
    if (const auto* number = std::get_if<double>(&value)) {
      return std::isfinite(*number) ? number_text(*number) : "null";
    }
    const auto* text = std::get_if<std::string>(&value);
    return text == nullptr ? "null" : Json(*text).scalar_text(JsonText::kUtf8);
  }
  TextSink sink_;
  std::vector<std::string> names_;
  bool first_ = true;
};

/// Widths come from the first rows: what follows need not be held.
class Lines final : public AnswerText {
 public:
  explicit Lines(TextSink sink) : sink_(std::move(sink)) {}
  void columns(std::span<const std::string> names) override {
    held_.emplace_back(names.begin(), names.end());
    right_.resize(names.size());
  }
  void row(std::span<const Value> values) override {
    std::vector<std::string> line;
    for (std::size_t i = 0; i < values.size(); ++i) {
      right_[i] = right_[i] || values[i].index() == 1 || values[i].index() == 2;
      line.push_back(text_of(values[i]));
    }
    if (!widths_.empty()) return put(line);
    held_.push_back(std::move(line));
    if (held_.size() > kHeld) release();
  }
  void end() override {
    if (widths_.empty()) release();
  }

 private:
  static constexpr std::size_t kHeld = 1000;
  static std::string text_of(const Value& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
    if (const auto* number = std::get_if<double>(&value)) {
      return std::isfinite(*number) ? print("%.9g", *number) : std::string();
    }
    const auto* text = std::get_if<std::string>(&value);
    return text == nullptr ? std::string() : one_line(*text);
  }
  void release() {
    widths_.assign(right_.size(), 1);
    for (const auto& line : held_) {
      for (std::size_t i = 0; i < line.size(); ++i) {
        widths_[i] = std::max(widths_[i], line[i].size());
      }
    }
    for (const auto& line : held_) put(line);
    held_.clear();
  }
  void put(const std::vector<std::string>& line) const {
    std::string out;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string fill(widths_[i] - std::min(widths_[i], line[i].size()), ' ');
      if (i > 0) out += "  ";
      out += right_[i] ? fill + line[i] : line[i] + fill;
    }
    out.erase(out.find_last_not_of(' ') + 1);
    sink_(out + "\n");
  }
  TextSink sink_;
  std::vector<std::vector<std::string>> held_;
  std::vector<std::size_t> widths_;
  std::vector<bool> right_;
};

}  // namespace

std::string number_text(double value) {
  if (!std::isfinite(value)) return {};
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

std::unique_ptr<AnswerText> answer_text(AnswerFormat format, TextSink sink) {
  if (format == AnswerFormat::kCsv) return std::make_unique<Csv>(std::move(sink));
  if (format == AnswerFormat::kJson) return std::make_unique<JsonRows>(std::move(sink));
  return std::make_unique<Lines>(std::move(sink));
}

void AnswerColumns::columns(std::span<const std::string> names) {
  for (std::string& name : names_of_their_own(names)) {
    columns_.push_back({std::move(name), {}, {}, {}, {}, {}});
  }
}

/// Values of the old kind become those of the new; integers beyond 2^53 lose digits in a column
/// that has other numbers too.
void AnswerColumns::widen(Column& c, Column::Kind kind) {
  using Kind = Column::Kind;
  if (kind <= c.kind) return;
  const std::size_t n = c.known.size();
  if (kind == Kind::kInteger) c.integers.resize(n);
  if (kind == Kind::kNumber) {
    c.numbers.assign(c.integers.begin(), c.integers.end());
    c.numbers.resize(n);
  }
  if (kind == Kind::kText) {
    c.texts.resize(n);
    for (std::size_t r = 0; r < n; ++r) {
      if (!c.known[r]) continue;
      c.texts[r] =
          c.kind == Kind::kInteger ? std::to_string(c.integers[r]) : number_text(c.numbers[r]);
    }
  }
  if (kind != Kind::kInteger) c.integers.clear();
  if (kind == Kind::kText) c.numbers.clear();
  c.kind = kind;
}

void AnswerColumns::types(std::span<const db::Declared> types) {
  for (std::size_t i = 0; i < types.size(); ++i) columns_[i].kind = types[i];
}

void AnswerColumns::row(std::span<const Value> values) {
  using Kind = Column::Kind;
  for (std::size_t i = 0; rows_ == 0 && i < columns_.size(); ++i) {
    columns_[i].kind = Kind::kNothing;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    Column& c = columns_[i];
    const Value& value = values[i];
    widen(c, static_cast<Kind>(value.index()));  // NULL, integer, number, text: in this order
    const auto* const integer = std::get_if<std::int64_t>(&value);
    const auto* const number = std::get_if<double>(&value);
    const auto* const text = std::get_if<std::string>(&value);
    if (c.kind == Kind::kInteger) c.integers.push_back(integer != nullptr ? *integer : 0);
    if (c.kind == Kind::kNumber) {
      c.numbers.push_back(integer != nullptr  ? static_cast<double>(*integer)
                          : number != nullptr ? *number
                                              : 0);
    }
    if (c.kind == Kind::kText) {
      c.texts.push_back(integer != nullptr  ? std::to_string(*integer)
                        : number != nullptr ? number_text(*number)
                        : text != nullptr   ? *text
                                            : std::string());
    }
    c.known.push_back(value.index() != 0);
  }
  ++rows_;
}

namespace {

/// Names as FITS has them: some letters of ASCII, of which no case is minded.
class FitsNames {
 public:
  std::string own(const std::string& name) {
    std::string bare;
    for (const char c : name) bare += c >= ' ' && c <= '~' ? c : '?';
    if (bare.find_first_not_of(' ') == std::string::npos) bare = "column";
    std::string its = bare;
    for (int k = 2; !taken_.insert(fits::normal_name(its)).second; ++k) {
      its = bare + "_" + std::to_string(k);
    }
    return its;
  }

 private:
  std::set<std::string> taken_;
};

}  // namespace

Table to_table(const AnswerColumns& answer) {
  using Kind = AnswerColumns::Column::Kind;
  constexpr std::int64_t kNull = std::numeric_limits<std::int64_t>::min();
  FitsNames names;
  Table out;
  out.rows = answer.rows();
  for (const AnswerColumns::Column& c : answer.all()) {
    const std::string name = names.own(c.name);
    if (c.kind == Kind::kText) {
      std::size_t width = 1;
      for (const std::string& text : c.texts) width = std::max(width, text.size());
      out.add(name, std::span<const std::string>(c.texts), width);
      continue;
    }
    if (c.kind == Kind::kInteger) {
      std::vector<std::int64_t> values = c.integers;
      bool nulls = false;
      for (std::size_t r = 0; r < values.size(); ++r) {
        if (c.known[r]) continue;
        values[r] = kNull;
        nulls = true;
      }
      out.add(name, std::span<const std::int64_t>(values));
      if (nulls) out.columns.back().undefined = kNull;
      continue;
    }
    std::vector<double> values = c.numbers;
    values.resize(answer.rows());
    for (std::size_t r = 0; r < values.size(); ++r) {
      if (!c.known[r]) values[r] = std::numeric_limits<double>::quiet_NaN();
    }
    out.add(name, std::span<const double>(values));
  }
  return out;
}

}  // namespace fiberloom
