// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift/lost_columns.hpp"

#include <algorithm>
#include <iterator>

#include "loom/base/print.hpp"

namespace fiberloom {

void FibermapColumns::add(const std::string& path, const Table& fibermap) {
  paths_.push_back(path);
  for (const Column& column : fibermap.columns) {
    const auto [known, is_new] = columns_.try_emplace(column.name);
    if (is_new) order_.push_back(column.name);
    known->second.resize(paths_.size());
    known->second.back() = true;
  }
}

void FibermapColumns::tell(std::initializer_list<const Table*> made,
                           const Observer& observer) const {
  std::vector<std::string> lost;
  std::ranges::copy_if(order_, std::back_inserter(lost), [&](const std::string& name) {
    return std::ranges::none_of(made, [&](const Table* table) { return table->find(name); });
  });
  if (lost.empty()) return;
  constexpr std::size_t kNamed = 4;
  std::string names;
  for (std::size_t n = 0; n < std::min(lost.size(), kNamed); ++n) {
    names += (n > 0 ? ", " : "") + lost[n];
  }
  if (lost.size() > kNamed) names += print(" and %zu more", lost.size() - kNamed);
  std::vector<bool> has = columns_.at(lost.front());
  has.resize(paths_.size());
  const auto without = static_cast<std::size_t>(std::ranges::find(has, false) - has.begin());
  observer.warn(hdu_ + ": " + names + (lost.size() > 1 ? " are" : " is") + " left out: " +
                (without < paths_.size()
                     ? paths_[without] + " has no " + lost.front()
                     : lost.front() + " is not of one kind in all files, or of varying length"));
}

}  // namespace fiberloom
