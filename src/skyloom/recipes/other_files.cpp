// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/other_files.hpp"

#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include "loom/base/print.hpp"
#include "loom/files/files_below.hpp"

namespace skyloom {

void tell_of_others(const std::string& folder, std::span<const std::string> own,
                    const std::function<bool(const std::string& name)>& alike,
                    const Observer& observer) {
  const auto name_of = [](const std::string& path) {
    return std::filesystem::path(path).filename().string();
  };
  std::set<std::string> made;
  for (const std::string& path : own) made.insert(name_of(path));
  std::vector<std::string> others;
  for (const std::string& path : files_below(folder, 1).files) {
    std::string name = name_of(path);
    if (alike(name) && !made.contains(name)) others.push_back(std::move(name));
  }
  if (others.empty()) return;
  std::string text = folder + ": " + others[0];
  if (others.size() > 1) text += (others.size() > 2 ? ", " : " and ") + others[1];
  if (others.size() > 2) text += print(" and %zu more", others.size() - 2);
  observer.warn(text + (others.size() > 1 ? " there are" : " there is") +
                " of another run: this one makes no such files");
}

}  // namespace skyloom
