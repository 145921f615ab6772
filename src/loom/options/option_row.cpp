// SPDX-License-Identifier: BSD-3-Clause
#include "loom/options/option_row.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "loom/base/print.hpp"
#include "loom/base/split.hpp"

namespace loom {
namespace {

struct Setter {
  const std::string& name;
  const std::optional<Interval>& interval;
  const std::string& text;

  [[noreturn]] void fail(const std::string& expected) const {
    throw Error(Status::kUsage, name + " " + text + ": expected " + expected);
  }
  void check(double value) const {
    if (interval && !interval->contains(value)) fail("a number " + interval->words());
  }
  template <class Number>
  [[nodiscard]] Number number(std::string_view word, const char* expected) const {
    Number value{};
    const char* const end = word.data() + word.size();
    const auto [rest, bad] = std::from_chars(word.data(), end, value);
    if (bad != std::errc() || rest != end) fail(expected);
    return value;
  }
  void operator()(bool* to) const {
    if (text != "true" && text != "false") fail("true or false");
    *to = text == "true";
  }
  void operator()(int* to) const { *to = checked<int>("an integer"); }
  void operator()(std::size_t* to) const { *to = checked<std::size_t>("an integer, 0 or more"); }
  void operator()(double* to) const { *to = real(); }
  void operator()(std::optional<double>* to) const {
    if (text == "none") {
      to->reset();
    } else {
      *to = real();
    }
  }
  void operator()(std::string* to) const { *to = text; }
  void operator()(std::vector<std::string>* to) const { to->push_back(text); }
  void operator()(std::vector<long>* to) const {
    std::vector<long> all;
    for (const std::string_view part : parts_of(text)) {
      all.push_back(number<long>(part, "integers with commas between them"));
    }
    *to = std::move(all);
  }
  void operator()(const WordField& field) const {
    const auto found = std::find(field.words.begin(), field.words.end(), text);
    if (found == field.words.end()) {
      std::string all;
      for (const std::string& word : field.words) all += (all.empty() ? "" : ", ") + word;
      fail("one of " + all);
    }
    field.set(static_cast<std::size_t>(found - field.words.begin()));
  }
  void operator()(const TextField& field) const {
    try {
      field.set(text);
    } catch (const Error& error) {
      fail(error.what());
    }
  }

 private:
  template <class Integer>
  [[nodiscard]] Integer checked(const char* expected) const {
    const auto value = number<Integer>(text, expected);
    check(static_cast<double>(value));
    return value;
  }
  [[nodiscard]] double real() const {
    const auto value = number<double>(text, "a number");
    if (!std::isfinite(value)) fail("a number");
    check(value);
    return value;
  }
};

template <class T, class Text>
std::string joined(const std::vector<T>& all, Text text_of) {
  std::string out;
  for (const T& one : all) {
    if (!out.empty()) out += ',';
    out += text_of(one);
  }
  return out;
}

struct Teller {
  std::string operator()(const bool* v) const { return *v ? "true" : "false"; }
  std::string operator()(const int* v) const { return std::to_string(*v); }
  std::string operator()(const std::size_t* v) const { return std::to_string(*v); }
  std::string operator()(const double* v) const { return print("%.17g", *v); }
  std::string operator()(const std::optional<double>* v) const {
    return *v ? print("%.17g", **v) : "none";
  }
  std::string operator()(const std::string* v) const { return *v; }
  std::string operator()(const std::vector<std::string>* v) const {
    return joined(*v, [](const std::string& one) { return one; });
  }
  std::string operator()(const std::vector<long>* v) const {
    return joined(*v, [](long one) { return std::to_string(one); });
  }
  std::string operator()(const WordField& field) const { return field.words[field.get()]; }
  std::string operator()(const TextField& field) const { return field.get(); }
};

}  // namespace

std::string long_name(std::string_view names) {
  const std::size_t start = names.find("--");
  return std::string(names.substr(start, names.find(',', start) - start));
}

void set_field(const std::string& name, const OptionField& field,
               const std::optional<Interval>& interval, const std::string& text) {
  std::visit(Setter{name, interval, text}, field);
}

std::string field_text(const OptionField& field) { return std::visit(Teller{}, field); }

}  // namespace loom
