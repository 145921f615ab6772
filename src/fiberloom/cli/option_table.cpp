// SPDX-License-Identifier: BSD-3-Clause
// CLI11's options -> tables.
#include "fiberloom/cli/option_table.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>

namespace fiberloom::cli {
namespace {

/// "exact|patch" -> its words; empty when it is no such list.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words{""};
  for (const char c : text) {
    if (c == '|') {
      words.emplace_back();
    } else if (std::islower(static_cast<unsigned char>(c)) != 0 || std::isdigit(c) != 0) {
      words.back() += c;
    } else {
      return {};
    }
  }
  const bool list = words.size() > 1 && std::none_of(words.begin(), words.end(),
                                                     [](const auto& w) { return w.empty(); });
  return list ? words : std::vector<std::string>{};
}

OptionRow row_of(const CLI::Option& option) {
  OptionRow row;
  for (const std::string& name : option.get_snames()) row.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) row.names.push_back("--" + name);
  row.positional = row.names.empty();
  if (row.positional) row.names.push_back(option.get_name());
  row.text = option.get_description();
  row.group = option.get_group();
  row.required = option.get_required();
  if (option.get_items_expected_max() == 0) return row;
  row.value = option.get_option_text().empty() ? option.get_type_name() : option.get_option_text();
  row.initial = option.get_default_str();
  row.words = words_of(row.value);
  row.file = row.words.empty() && row.value == "TEXT";
  return row;
}

}  // namespace

std::vector<CommandTable> command_tables(const CLI::App& program) {
  std::vector<CommandTable> tables;
  for (const CLI::App* app : program.get_subcommands([](const CLI::App*) { return true; })) {
    CommandTable table{app->get_name(), app->get_description(), app->get_footer(), {}};
    for (const CLI::Option* option : app->get_options()) {
      if (!option->get_group().empty()) table.options.push_back(row_of(*option));
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace fiberloom::cli
