// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/night/job_file.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "fiberloom/recipes/extract_option_table.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/files/input_file.hpp"

namespace fiberloom::night {
namespace {

namespace fs = std::filesystem;

/// A table of the file that knows how to complain.
class Table {
 public:
  Table(const toml::table& table, std::string label, const fs::path& file,
        const std::set<std::string>& fixed)
      : table_(table), label_(std::move(label)), file_(file), fixed_(fixed) {}

  [[noreturn]] void fail(const toml::node& at, const std::string& what) const {
    throw Error(Status::kUsage,
                file_.string() + ", line " + std::to_string(at.source().begin.line) + ": " + what);
  }

  /// Of a value of the right type that cannot be.
  [[noreturn]] void refuse(const char* key, const std::string& expected) const {
    fail(*table_.get(key), label_ + key + ": expected " + expected);
  }

  void allow(const std::vector<std::string_view>& keys) const {
    for (const auto& [key, node] : table_) {
      if (std::find(keys.begin(), keys.end(), key.str()) == keys.end()) {
        fail(node, "unknown key " + label_ + std::string(key.str()));
      }
    }
  }

  template <class T>
  [[nodiscard]] std::optional<T> get(const char* key, const char* expected) const {
    const toml::node* node = table_.get(key);
    if (node == nullptr || fixed_.count(label_ + key) > 0) return std::nullopt;
    auto value = node->value<T>();
    if (!value) fail(*node, label_ + key + ": expected " + expected);
    return value;
  }

  [[nodiscard]] std::optional<std::string> text(const char* key) const {
    return get<std::string>(key, "a text in quotes");
  }
  [[nodiscard]] std::optional<std::string> path(const char* key) const {
    auto value = text(key);
    if (value && !value->empty()) {
      value = (file_.parent_path() / *value).lexically_normal().string();
    }
    return value;
  }
  /// One that a T holds.
  template <class T = std::int64_t>
  [[nodiscard]] std::optional<T> integer(const char* key) const {
    using Limits = std::numeric_limits<T>;
    const auto value = get<std::int64_t>(key, "an integer");
    if (!value) return std::nullopt;
    if (std::cmp_less(*value, Limits::min()) || std::cmp_greater(*value, Limits::max())) {
      fail(*table_.get(key), label_ + key + ": expected an integer from " +
                                 std::to_string(Limits::min()) + " to " +
                                 std::to_string(Limits::max()));
    }
    return static_cast<T>(*value);
  }
  [[nodiscard]] std::optional<bool> truth(const char* key) const {
    return get<bool>(key, "true or false");
  }
  [[nodiscard]] std::optional<double> number(const char* key) const {
    return get<double>(key, "a number");
  }

  template <class T>
  [[nodiscard]] std::vector<T> list(const char* key, const char* expected) const {
    std::vector<T> values;
    const toml::node* node = table_.get(key);
    if (node == nullptr) return values;
    const toml::array* array = node->as_array();
    if (array == nullptr) fail(*node, label_ + key + ": expected a list of " + expected);
    for (const toml::node& element : *array) {
      const auto value = element.value<T>();
      if (!value) fail(element, label_ + key + ": expected a list of " + expected);
      values.push_back(*value);
    }
    return values;
  }

  [[nodiscard]] std::optional<std::array<double, 3>> wave(const char* key = "wave") const {
    const auto values = list<double>(key, "numbers");
    if (values.empty()) return std::nullopt;
    if (values.size() != 3) fail(*table_.get(key), label_ + key + ": expected [wmin, wmax, step]");
    return std::array<double, 3>{values[0], values[1], values[2]};
  }

  template <class T>
  [[nodiscard]] std::optional<T> choice(const char* key,
                                        const std::vector<std::string>& words) const {
    const auto word = text(key);
    if (!word) return std::nullopt;
    std::string all;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (*word == words[i]) return static_cast<T>(i);
      all += (all.empty() ? "" : " or ") + words[i];
    }
    fail(*table_.get(key), label_ + key + ": expected " + all);
  }

  /// Each value of the table as text.
  [[nodiscard]] std::vector<JobSetting> settings(const std::string& name) const {
    std::vector<JobSetting> out;
    for (const auto& [key, node] : table_) {
      const std::string place =
          file_.string() + ", line " + std::to_string(node.source().begin.line);
      out.push_back({name, std::string(key.str()), text_of(node, std::string(key.str())), place});
    }
    const auto line = [&](const JobSetting& s) { return table_.get(s.key)->source().begin; };
    std::sort(out.begin(), out.end(), [&](const JobSetting& a, const JobSetting& b) {
      return std::pair(line(a).line, line(a).column) < std::pair(line(b).line, line(b).column);
    });
    return out;
  }

  [[nodiscard]] std::optional<Table> table(const char* key) const {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return std::nullopt;
    if (!node->is_table()) fail(*node, label_ + key + ": expected a table");
    return Table(*node->as_table(), label_ + key + ".", file_, fixed_);
  }

  void each(const char* key, const std::function<void(const Table&)>& use) const {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return;
    const toml::array* array = node->as_array();
    if (array == nullptr) fail(*node, std::string("expected [[") + key + "]]");
    for (const toml::node& element : *array) {
      if (!element.is_table()) fail(element, std::string("expected [[") + key + "]]");
      use(Table(*element.as_table(), label_ + key + ".", file_, fixed_));
    }
  }

 private:
  [[nodiscard]] std::string text_of(const toml::node& node, const std::string& key) const {
    if (const toml::array* array = node.as_array()) {
      std::string all;
      for (const toml::node& element : *array) {
        if (element.is_array()) refuse(element, key);
        all += (all.empty() ? "" : ",") + text_of(element, key);
      }
      if (!all.empty()) return all;
    }
    if (const auto text = node.value_exact<std::string>()) return *text;
    if (const auto truth = node.value_exact<bool>()) return *truth ? "true" : "false";
    if (const auto integer = node.value_exact<std::int64_t>()) return std::to_string(*integer);
    if (const auto number = node.value_exact<double>()) return print("%.17g", *number);
    refuse(node, key);
  }
  [[noreturn]] void refuse(const toml::node& node, const std::string& key) const {
    fail(node, label_ + key + ": expected a text, a number, true or false, or a list of these");
  }

  const toml::table& table_;
  std::string label_;
  const fs::path& file_;
  const std::set<std::string>& fixed_;
};

template <class T, class From>
void put(T& to, const std::optional<From>& from) {
  if (from) to = static_cast<T>(*from);
}

/// The value of an option's key, by the kind of its member.
struct OptionReader {
  const Table& t;
  const char* key;

  void operator()(bool& to) const { put(to, t.truth(key)); }
  void operator()(double& to) const { put(to, t.number(key)); }
  void operator()(int& to) const { put(to, t.integer<int>(key)); }
  void operator()(std::uint32_t& to) const { put(to, t.integer<std::uint32_t>(key)); }
  void operator()(Verify& to) const {
    if (const auto yes = t.truth(key)) to = *yes ? Verify::kYes : Verify::kNo;
  }
  template <class Word>
  void operator()(Word& to) const {
    put(to, t.choice<Word>(key, option_words(&to)));
  }
  void operator()(WaveTriple&) const {}  // the grid is that of a band
};

void read_options(const Table& t, ExtractJob& job) {
  std::vector<std::string_view> keys;
  for (const ExtractOptionRow& row : extract_option_rows()) {
    if (row.in_job_file()) keys.emplace_back(row.key);
  }
  t.allow(keys);
  each_extract_option(job, [&](const ExtractOptionRow& row, auto& member) {
    OptionReader{t, row.key}(member);
  });
}

void read_band(const Table& file, char band, FrameRequest& request) {
  const auto t = file.table(std::string(1, band).c_str());
  if (!t) return;
  t->allow({"wave", "psferr"});
  BandSetup& setup = request.bands[band];
  put(setup.wave, t->wave());
  const auto psferr = t->number("psferr");
  if (!psferr || request.fixed.contains("options.psferr")) return;
  if (!(*psferr >= 0) || std::isinf(*psferr)) t->refuse("psferr", "a number of at least 0");
  setup.psferr = *psferr;
  setup.own_psferr = true;
}

/// A name that files of the run folder can have.
bool is_camera_name(const std::string& text) {
  return !text.empty() && text.find('/') == std::string::npos &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > ' ' && c < 127; });
}

NamedFrame read_frame(const Table& t) {
  t.allow({"image", "psf", "output", "camera", "night", "expid"});
  NamedFrame frame;
  frame.image = t.path("image").value_or("");
  frame.psf = t.path("psf").value_or("");
  frame.output = t.path("output").value_or("");
  frame.camera = t.text("camera").value_or("");
  if (!frame.camera.empty() && !is_camera_name(frame.camera)) {
    t.refuse("camera", "a name without / and blanks, as r0");
  }
  frame.night = t.text("night").value_or("");
  const auto expid = t.integer("expid");
  if (expid && *expid < 0) t.refuse("expid", "an integer of at least 0");
  frame.expid = static_cast<long>(expid.value_or(-1));
  return frame;
}

}  // namespace

std::vector<JobSetting> read_job_file(const std::string& path, FrameRequest& request,
                                      const std::vector<std::string>& others) {
  constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
  const std::string text = read_text(path, kMaxBytes);
  toml::table parsed;
  try {
    parsed = toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    throw Error(Status::kUsage, path + ", line " + std::to_string(error.source().begin.line) +
                                    ": " + std::string(error.description()));
  }
  const fs::path file(path);
  const Table top(parsed, "", file, request.fixed);
  std::vector<std::string_view> keys{"input",     "output",   "psf",     "cameras",
                                     "exposures", "compress", "reports", "options",
                                     "b",         "r",        "z",       "frame"};
  keys.insert(keys.end(), others.begin(), others.end());
  top.allow(keys);
  const auto fill = [](std::string& to, const std::optional<std::string>& from) {
    if (to.empty() && from) to = *from;
  };
  fill(request.input, top.path("input"));
  fill(request.output, top.path("output"));
  fill(request.psf_pattern, top.path("psf"));
  if (request.cameras.empty()) request.cameras = top.list<std::string>("cameras", "texts");
  if (request.exposures.empty()) {
    for (const auto e : top.list<std::int64_t>("exposures", "integers")) {
      request.exposures.push_back(static_cast<long>(e));
    }
  }
  if (top.truth("compress").value_or(false)) {
    request.compress = Compress::kYes;
  }
  if (top.truth("reports").value_or(false)) request.reports = Reports::kYes;
  if (const auto options = top.table("options")) read_options(*options, request.job);
  for (const char band : {'b', 'r', 'z'}) read_band(top, band, request);
  top.each("frame", [&](const Table& t) { request.frames.push_back(read_frame(t)); });
  std::vector<JobSetting> settings;
  for (const std::string& name : others) {
    if (const auto table = top.table(name.c_str())) {
      std::ranges::move(table->settings(name), std::back_inserter(settings));
    }
  }
  return settings;
}

}  // namespace fiberloom::night
