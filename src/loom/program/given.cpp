// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <stdexcept>

#include "loom/program/command.hpp"

namespace loom {

Given::Given(const Options& options, const std::map<std::size_t, std::string>& texts) {
  for (const Option& option : options.rows()) {
    const auto text = texts.find(rows_.size());
    const bool given = text != texts.end();
    rows_.push_back({option.names, option.full_name(), given ? text->second : "", given});
  }
}

const Given::Row& Given::find(const std::string& name) const {
  for (const Row& row : rows_) {
    if (std::find(row.names.begin(), row.names.end(), name) != row.names.end()) return row;
  }
  throw std::logic_error("this command has no option " + name);
}

std::map<std::string, std::string> Given::texts() const {
  std::map<std::string, std::string> texts;
  for (const Row& row : rows_) {
    if (row.given) texts[row.full_name] = row.text;
  }
  return texts;
}

}  // namespace loom
