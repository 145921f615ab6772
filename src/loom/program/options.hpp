// SPDX-License-Identifier: BSD-3-Clause
// The options of one command as rows: what the parser, --help, completion scripts and the manual
// page are made of. Knows no parser.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "loom/base/interval.hpp"

namespace loom {

/// Where the value of an option goes: a variable, which must outlive the parsing and whose content
/// is the default, or a function. Of a flag bool or a function without argument. Nothing: the
/// option is accepted, and only Given tells of it.
using OptionSlot =
    std::variant<std::monostate, bool*, std::string*, int*, unsigned*, long*, unsigned long*,
                 long long*, unsigned long long*, double*, std::optional<double>*,
                 std::vector<std::string>*, std::vector<long>*, std::function<void()>,
                 std::function<void(const std::string&)>>;

/// How a value must be written to be one of the words.
enum class WordCase {
  kExact,
  kAny,      ///< becomes the word
  kLowered,  ///< becomes lower case before it is looked for
};

/// What a row may have beside names, slot and text.
struct OptionTraits {
  std::string value = {};  ///< what help shows for the value; empty: by slot and words
  std::optional<Interval> interval = {};  ///< of a number
  std::vector<std::string> words = {};    ///< all that the value may be; empty: anything
  WordCase word_case = WordCase::kExact;
  bool required = false;
  bool shows_default = false;
  std::string initial = {};        ///< what help shows then, where the slot does not know it
  char delimiter = '\0';           ///< a list may be one word: a,b,c
  bool one_a_time = false;         ///< of a list: each value wants the option's name again
  bool may_be_empty = false;       ///< of a text: "" is a value, elsewhere it is refused
  const char* if_alone = nullptr;  ///< the value may be left out, and is then this
};

struct Option {
  enum class Kind { kValue, kFlag, kHelp, kVersion };

  std::vector<std::string> names;  ///< "-i", "--input", short ones first; a positional's own name
  OptionSlot slot;
  std::string text, group;
  OptionTraits traits;
  Kind kind = Kind::kValue;

  [[nodiscard]] bool positional() const { return !names.front().starts_with('-'); }
  /// An argument follows, always.
  [[nodiscard]] bool wants_value() const {
    return kind == Kind::kValue && traits.if_alone == nullptr;
  }
  /// The name in messages and summaries: the first long one where there is one.
  [[nodiscard]] const std::string& full_name() const;
  /// "TEXT", "INT:1 to 4096", "exact|patch"; empty for a flag.
  [[nodiscard]] std::string value_text() const;
  /// The words of value_text() where it is a list of them: what completion offers.
  [[nodiscard]] std::vector<std::string> offered_words() const;
  /// A path may stand there.
  [[nodiscard]] bool takes_path() const;
  /// The default as help shows it, or nothing.
  [[nodiscard]] std::string initial() const;
};

/// The options of a command, -h and --help first.
class Options {
 public:
  Options();

  /// Options added from here on stand under this heading; without one "Options".
  void group(std::string heading) { group_ = std::move(heading); }

  /// "-i,--input", or the name of a positional.
  Option& add(std::string_view names, OptionSlot slot, std::string text, OptionTraits traits = {});

  Option& flag(std::string_view names, OptionSlot slot, std::string text);

  /// One of a few words, which stand for values; the first is the default.
  template <class T>
  Option& choice(std::string_view names, T* value,
                 const std::vector<std::pair<std::string, T>>& meanings,
                 std::string text,  // NOLINT(performance-unnecessary-value-param): it is moved
                 OptionTraits traits = {}) {
    for (const auto& meaning : meanings) traits.words.push_back(meaning.first);
    traits.word_case = WordCase::kAny;
    traits.shows_default = !traits.required;
    traits.initial = meanings.front().first;
    *value = meanings.front().second;
    const auto choose = [value, meanings](const std::string& word) {
      for (const auto& meaning : meanings) {
        if (meaning.first == word) *value = meaning.second;
      }
    };
    return add(names, choose, std::move(text), std::move(traits));
  }

  /// A flag that answers with `version` and does nothing else.
  void version(std::string_view names, std::string version);

  /// A deque: a row stays where it is when others are added.
  [[nodiscard]] const std::deque<Option>& rows() const { return rows_; }

 private:
  Option& push(std::string_view names, OptionSlot slot, std::string text, OptionTraits traits,
               Option::Kind kind);

  std::deque<Option> rows_;
  std::string group_ = "Options";
};

}  // namespace loom
