// SPDX-License-Identifier: BSD-3-Clause
// What the scores of a target's exposures sum to.
#include <algorithm>
#include <string>
#include <string_view>

#include "fiberloom/recipes/redshift/tables_of_targets.hpp"

namespace fiberloom {

std::optional<Table> tsnr2_of_camera(const std::optional<Table>& scores,
                                     const std::string& camera) {
  Table out;
  if (scores) out.rows = scores->rows;
  for (const Column& c : scores ? scores->columns : std::vector<Column>()) {
    if (c.name.starts_with("TSNR2_") && c.name.ends_with("_" + camera) &&
        out.find(c.name) == nullptr) {
      out.columns.push_back(c);
    }
  }
  return out.columns.empty() ? std::nullopt : std::optional(std::move(out));
}

void join_columns(std::optional<Table> more, std::optional<Table>& table) {
  if (!more) return;
  if (!table) {
    table = std::move(more);
    return;
  }
  for (Column& c : more->columns) table->columns.push_back(std::move(c));
}

std::optional<Table> sum_tsnr2(std::span<const Table* const> scores,
                               std::span<const std::int64_t> ids,
                               std::span<const std::vector<ScoreRow>> rows_of) {
  std::vector<std::string> names;
  for (const Table* table : scores) {
    if (table == nullptr) continue;
    for (const Column& c : table->columns) {
      if (!c.name.starts_with("TSNR2_") || c.width != 1) continue;
      if (std::find(names.begin(), names.end(), c.name) == names.end()) names.push_back(c.name);
    }
  }
  if (names.empty()) return std::nullopt;
  const auto of_camera = [](const std::string& name) {
    return name.size() > 8 && name[name.size() - 2] == '_' &&
           std::string_view("BRZ").find(name.back()) != std::string_view::npos;
  };
  Table out;
  out.add("TARGETID", ids);
  std::vector<std::pair<std::string, std::vector<float>>> totals;
  for (const std::string& name : names) {
    std::vector<float> values(ids.size(), 0.0F);
    for (std::size_t k = 0; k < scores.size(); ++k) {
      const auto column = scores[k] == nullptr ? std::nullopt : scores[k]->column(name);
      if (!column) continue;
      for (std::size_t t = 0; t < ids.size(); ++t) {
        for (const ScoreRow& at : rows_of[t]) {
          if (at.table == k) values[t] += static_cast<float>((*column)[at.row]);
        }
      }
    }
    out.add(name, std::span<const float>(values));
    const std::string kind = name.substr(0, name.size() - 2);
    if (!of_camera(name) || std::find(names.begin(), names.end(), kind) != names.end()) continue;
    auto total =
        std::find_if(totals.begin(), totals.end(), [&](const auto& t) { return t.first == kind; });
    if (total == totals.end()) {
      total = totals.insert(totals.end(), {kind, std::vector<float>(ids.size(), 0.0F)});
    }
    for (std::size_t t = 0; t < ids.size(); ++t) total->second[t] += values[t];
  }
  for (const auto& [name, values] : totals) out.add(name, std::span<const float>(values));
  return out;
}

}  // namespace fiberloom
