// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/calibration_option_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {
namespace {

[[noreturn]] void fail(const CalibrationOptionRow& row, const std::string& text,
                       const std::string& expected) {
  throw Error(Status::kUsage, row.long_name() + " " + text + ": expected " + expected);
}

/// Visits every kind of member.
struct SetMember {
  const CalibrationOptionRow& row;
  const std::string& text;
  void operator()(double* to) const {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
      fail(row, text, "a number");
    }
    if (row.interval && !row.interval->contains(value)) {
      fail(row, text, "a number " + row.interval->words());
    }
    *to = value;
  }
  void operator()(int* to) const {
    double value = 0;
    (*this)(&value);
    constexpr double kMost = 1e9;
    if (value != std::floor(value) || std::abs(value) > kMost) fail(row, text, "a whole number");
    *to = static_cast<int>(value);
  }
  void operator()(std::string* to) const { *to = text; }
  void operator()(std::vector<std::string>* to) const { *to = words(); }
  void operator()(std::vector<long>* to) const {
    to->clear();
    for (const std::string& word : words()) {
      long value = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (error != std::errc() || end != word.data() + word.size()) fail(row, word, "a TARGETID");
      to->push_back(value);
    }
  }
  void operator()(calibrate::StarColour* to) const {
    const auto& all = star_colours();
    const auto found = std::find(all.begin(), all.end(), text);
    if (found == all.end()) fail(row, text, "auto, G-R, R-Z, GAIA-BP-RP or GAIA-G-RP");
    *to = static_cast<calibrate::StarColour>(found - all.begin());
  }
  void operator()(CalibrationMethod* to) const {
    const auto& words = calibration_methods();
    const auto found = std::find(words.begin(), words.end(), text);
    if (found == words.end()) fail(row, text, "fiberloom or desispec");
    *to = static_cast<CalibrationMethod>(found - words.begin());
  }
  void operator()(Verify* to) const { *to = yes() ? Verify::kYes : Verify::kNo; }
  void operator()(Overwrite* to) const { *to = yes() ? Overwrite::kYes : Overwrite::kNo; }

 private:
  [[nodiscard]] std::vector<std::string> words() const {
    std::vector<std::string> out;
    std::istringstream all(text);
    for (std::string word; std::getline(all, word, ',');) out.push_back(word);
    return out;
  }
  [[nodiscard]] bool yes() const {
    if (text != "true" && text != "false") fail(row, text, "true or false");
    return text == "true";
  }
};

struct TellMember {
  std::string operator()(const double* v) const { return print("%.17g", *v); }
  std::string operator()(const int* v) const { return std::to_string(*v); }
  std::string operator()(const std::string* v) const { return *v; }
  std::string operator()(const std::vector<std::string>* v) const {
    return joined(*v, [](const std::string& one) { return one; });
  }
  std::string operator()(const std::vector<long>* v) const {
    return joined(*v, [](long one) { return std::to_string(one); });
  }
  std::string operator()(const calibrate::StarColour* v) const {
    return star_colours()[static_cast<std::size_t>(*v)];
  }
  std::string operator()(const CalibrationMethod* v) const {
    return calibration_methods()[static_cast<std::size_t>(*v)];
  }
  std::string operator()(const Verify* v) const { return *v == Verify::kYes ? "true" : "false"; }
  std::string operator()(const Overwrite* v) const {
    return *v == Overwrite::kYes ? "true" : "false";
  }

 private:
  template <class T, class Text>
  static std::string joined(const std::vector<T>& all, Text text) {
    std::string out;
    for (const T& one : all) out += (out.empty() ? "" : ",") + text(one);
    return out;
  }
};

}  // namespace

std::string CalibrationOptionRow::long_name() const {
  const std::string all(names);
  const std::size_t start = all.find("--");
  return all.substr(start, all.find(',', start) - start);
}

const std::vector<std::string>& calibration_methods() {
  static const std::vector<std::string> words{"fiberloom", "desispec"};
  return words;
}

const std::vector<std::string>& star_colours() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> out{"auto"};
    for (const auto colour : {calibrate::StarColour::kGR, calibrate::StarColour::kRZ,
                              calibrate::StarColour::kGaiaBpRp, calibrate::StarColour::kGaiaGRp}) {
      out.emplace_back(calibrate::name_of(colour));
    }
    return out;
  }();
  return words;
}

void set_calibration_option(const CalibrationOptionRow& row, CalibrationJob& job,
                            const std::string& text) {
  std::visit(SetMember{row, text}, row.field(job));
}

std::vector<std::pair<std::string, std::string>> calibration_settings(const CalibrationJob& job) {
  CalibrationJob copy = job;
  std::vector<std::pair<std::string, std::string>> out;
  for (const CalibrationOptionRow& row : calibration_option_rows()) {
    if (!row.is_setting || !row.belongs_to(job.step)) continue;
    out.emplace_back(row.key, std::visit(TellMember{}, row.field(copy)));
  }
  return out;
}

}  // namespace fiberloom
