// SPDX-License-Identifier: BSD-3-Clause
// An option that takes one of a few words.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

namespace fiberloom::cli {

/// `values` pairs words with their meaning; the first is the default. Help shows "a|b".
template <class T>
CLI::Option* add_choice(CLI::App& app, const char* name, T& value,
                        const std::vector<std::pair<std::string, T>>& values, const char* text) {
  std::string help;
  std::vector<std::string> words;
  for (const auto& choice : values) {
    words.push_back(choice.first);
    help += (help.empty() ? "" : "|") + choice.first;
  }
  value = values.front().second;
  const auto choose = [&value, values](const std::string& word) {
    for (const auto& choice : values) {
      if (choice.first == word) value = choice.second;
    }
  };
  // A transformer to T would leave numbers for who asks which options were given.
  return app.add_option_function<std::string>(name, choose, text)
      ->transform(CLI::IsMember(words, CLI::ignore_case))
      ->option_text(help);
}

}  // namespace fiberloom::cli
