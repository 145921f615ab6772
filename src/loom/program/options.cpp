// SPDX-License-Identifier: BSD-3-Clause
#include "loom/program/options.hpp"

#include <algorithm>
#include <cctype>
#include <type_traits>

#include "loom/program/words.hpp"

namespace loom {
namespace {

std::vector<std::string> split(std::string_view text, char between) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == between) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// Whether it is a list of plain words, "exact|patch".
bool is_word_list(const std::vector<std::string>& words) {
  return words.size() > 1 && std::all_of(words.begin(), words.end(), [](const std::string& word) {
           return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
             return std::islower(c) != 0 || std::isdigit(c) != 0;
           });
         });
}

/// The kind of value that a slot takes, as help calls it.
struct TypeName {
  const char* operator()(std::monostate) const { return ""; }
  const char* operator()(const bool*) const { return ""; }
  const char* operator()(const std::function<void()>&) const { return ""; }
  const char* operator()(const std::string*) const { return "TEXT"; }
  const char* operator()(const std::vector<std::string>*) const { return "TEXT"; }
  const char* operator()(const std::function<void(const std::string&)>&) const { return "TEXT"; }
  const char* operator()(const std::vector<long>*) const { return "INT"; }
  const char* operator()(const std::optional<double>*) const { return "FLOAT"; }
  template <class Number>
  const char* operator()(const Number*) const {
    if (std::is_floating_point_v<Number>) return "FLOAT";
    return std::is_signed_v<Number> ? "INT" : "UINT";
  }
};

/// The content of a slot's variable.
struct ContentText {
  std::string operator()(std::string* value) const { return *value; }
  std::string operator()(double* value) const { return print("%g", *value); }
  std::string operator()(std::vector<std::string>* values) const {
    return std::string("[").append(joined(*values, ",")).append("]");
  }
  template <class Slot>
  std::string operator()(Slot slot) const {
    if constexpr (std::is_pointer_v<Slot>) {
      if constexpr (std::is_integral_v<std::remove_pointer_t<Slot>>) return std::to_string(*slot);
    }
    return "";
  }
};

}  // namespace

const std::string& Option::full_name() const {
  const auto found = std::find_if(names.begin(), names.end(),
                                  [](const std::string& name) { return name.starts_with("--"); });
  return found == names.end() ? names.front() : *found;
}

std::string Option::value_text() const {
  if (kind != Kind::kValue) return "";
  if (!traits.value.empty()) return traits.value;
  if (!traits.words.empty()) return joined(traits.words, "|");
  const std::string type = std::visit(TypeName{}, slot);
  const std::string ends = traits.interval ? traits.interval->ends() : "";
  return ends.empty() ? type : type + ":" + ends;
}

std::vector<std::string> Option::offered_words() const {
  std::vector<std::string> words = split(value_text(), '|');
  return is_word_list(words) ? words : std::vector<std::string>{};
}

bool Option::takes_path() const { return value_text() == "TEXT"; }

std::string Option::initial() const {
  if (traits.if_alone != nullptr) return traits.if_alone;
  if (!traits.shows_default) return "";
  return traits.initial.empty() ? std::visit(ContentText{}, slot) : traits.initial;
}

Options::Options() {
  push("-h,--help", {}, "Print this help message and exit", {}, Option::Kind::kHelp);
}

Option& Options::add(std::string_view names, OptionSlot slot, std::string text,
                     OptionTraits traits) {
  return push(names, std::move(slot), std::move(text), std::move(traits), Option::Kind::kValue);
}

Option& Options::flag(std::string_view names, OptionSlot slot, std::string text) {
  return push(names, std::move(slot), std::move(text), {}, Option::Kind::kFlag);
}

void Options::version(std::string_view names, std::string version) {
  push(names, {}, std::move(version), {}, Option::Kind::kVersion);
}

Option& Options::push(std::string_view names, OptionSlot slot, std::string text,
                      OptionTraits traits, Option::Kind kind) {
  Option option{
      split(names, ','), std::move(slot), std::move(text), group_, std::move(traits), kind};
  std::stable_partition(option.names.begin(), option.names.end(),
                        [](const std::string& name) { return !name.starts_with("--"); });
  return rows_.emplace_back(std::move(option));
}

}  // namespace loom
