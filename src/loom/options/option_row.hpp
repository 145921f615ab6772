// SPDX-License-Identifier: BSD-3-Clause
// Options of a job, a row each: what the command line, JSON summaries, notes in outputs and Python
// know of them. A new option is a row in a table and one use of its member.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/interval.hpp"

namespace loom {

/// A member that is one of a few words; the first is the default.
struct WordField {
  std::vector<std::string> words;
  std::function<void(std::size_t)> set;
  std::function<std::size_t()> get;
};

/// A member that has a text of its own: "auto", "FIRST:END".
struct TextField {
  /// Throws kUsage with what was expected, the option's name in front is the caller's.
  std::function<void(const std::string&)> set;
  std::function<std::string()> get;
  std::vector<std::string> words = {};  ///< all that a user may say; empty: not a few words
};

/// Where the value of an option goes. A list of texts takes one more with each text; a list of
/// integers is one text, 5,-7.
using OptionField =
    std::variant<bool*, int*, std::size_t*, double*, std::string*, std::optional<double>*,
                 std::vector<std::string>*, std::vector<long>*, WordField, TextField>;

template <class Enum>
struct Word {
  const char* text;
  Enum value;
};

/// The field of an enumeration.
template <class Enum, std::size_t n>
[[nodiscard]] WordField word_field(Enum* member, const Word<Enum> (&words)[n]) {
  const std::span<const Word<Enum>> all(words);
  WordField field;
  for (const auto& word : all) field.words.emplace_back(word.text);
  field.set = [member, all](std::size_t i) { *member = all[i].value; };
  field.get = [member, all] {
    std::size_t i = 0;
    while (i + 1 < all.size() && all[i].value != *member) ++i;
    return i;
  };
  return field;
}

template <class Job>
struct OptionRow {
  const char* key;         ///< in JSON, notes and Python
  const char* names;       ///< on the command line; of a bool a flag
  const char* group = "";  ///< heading in help
  const char* text;
  OptionField (*field)(Job&);
  const char* value = "";  ///< what help shows for it; empty: by its kind
  std::optional<Interval> interval = {};
  bool required = false, shows_default = false;
  bool flag_clears = false;     ///< the flag says no: --no-skymask
  bool decides_numbers = true;  ///< of an output: it is noted there
  unsigned commands = ~0U;      ///< bits, where a table serves several
};

/// "--stripe-size", the first long name of "-s,--stripe-size".
[[nodiscard]] std::string long_name(std::string_view names);

/// Puts a text where it belongs. Throws kUsage with the option's name.
void set_field(const std::string& name, const OptionField& field,
               const std::optional<Interval>& interval, const std::string& text);
/// A member as text, all digits of a number; what set_field() takes.
[[nodiscard]] std::string field_text(const OptionField& field);

template <class Job>
void set_option(const OptionRow<Job>& row, Job& job, const std::string& text) {
  set_field(long_name(row.names), row.field(job), row.interval, text);
}

/// By key. Throws kUsage where there is no such option.
template <class Job>
void set_option(std::span<const OptionRow<Job>> rows, Job& job, std::string_view key,
                const std::string& text) {
  for (const OptionRow<Job>& row : rows) {
    if (row.key == key) return set_option(row, job, text);
  }
  throw Error(Status::kUsage, "there is no option " + std::string(key));
}

/// Key and text of every option of a job, in the order of the rows.
template <class Job>
[[nodiscard]] std::vector<std::pair<std::string, std::string>> option_texts(
    std::span<const OptionRow<Job>> rows, const Job& job, bool decisive_alone = false) {
  Job copy = job;
  std::vector<std::pair<std::string, std::string>> texts;
  for (const OptionRow<Job>& row : rows) {
    if (decisive_alone && !row.decides_numbers) continue;
    texts.emplace_back(row.key, field_text(row.field(copy)));
  }
  return texts;
}

}  // namespace loom
