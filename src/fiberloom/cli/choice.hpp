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
  std::string words;
  for (const auto& choice : values) words += (words.empty() ? "" : "|") + choice.first;
  value = values.front().second;
  return app.add_option(name, value, text)
      ->transform(CLI::CheckedTransformer(values, CLI::ignore_case))
      ->option_text(words);
}

}  // namespace fiberloom::cli
