// SPDX-License-Identifier: BSD-3-Clause
// Stretches of each row, joined from row to row.
#include "fiberloom/recipes/report/clusters.hpp"

#include <algorithm>
#include <numeric>

namespace fiberloom::report {
namespace {

constexpr std::size_t kLargestGap = 2;

struct FlaggedRun {
  std::size_t row = 0, first = 0, last = 0, bins = 0;
};

std::vector<FlaggedRun> stretches(const Array2D<std::uint8_t>& flags, std::uint8_t bits) {
  std::vector<FlaggedRun> out;
  for (std::size_t s = 0; s < flags.rows(); ++s) {
    for (std::size_t j = 0; j < flags.cols(); ++j) {
      if ((flags(s, j) & bits) == 0) continue;
      const bool near =
          !out.empty() && out.back().row == s && j - out.back().last <= kLargestGap + 1;
      if (!near) out.push_back({s, j, j, 0});
      out.back().last = j;
      ++out.back().bins;
    }
  }
  return out;
}

/// Sets that can be joined; the root of one stands for it.
class Sets {
 public:
  explicit Sets(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0U); }
  std::size_t root(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) { parent_[root(b)] = root(a); }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace

std::vector<Cluster> clusters(const Array2D<std::uint8_t>& flags, std::uint8_t bits) {
  const std::vector<FlaggedRun> all = stretches(flags, bits);
  Sets sets(all.size());
  std::size_t above = 0;  // first stretch of the row before that may still overlap
  for (std::size_t i = 0; i < all.size(); ++i) {
    while (above < i && (all[above].row + 1 < all[i].row ||
                         (all[above].row + 1 == all[i].row && all[above].last < all[i].first))) {
      ++above;
    }
    for (std::size_t k = above; k < i && all[k].row + 1 == all[i].row; ++k) {
      if (all[k].first > all[i].last) break;
      sets.join(k, i);
    }
  }
  std::vector<Cluster> by_root(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    Cluster& c = by_root[sets.root(i)];
    const FlaggedRun& s = all[i];
    if (c.bins == 0) c.box = {s.row, s.row, s.first, s.last};
    c.bins += s.bins;
    c.box = {std::min(c.box.row, s.row), std::max(c.box.last_row, s.row),
             std::min(c.box.first, s.first), std::max(c.box.last, s.last)};
  }
  std::erase_if(by_root, [](const Cluster& c) { return c.bins == 0; });
  std::stable_sort(by_root.begin(), by_root.end(),
                   [](const Cluster& a, const Cluster& b) { return a.bins > b.bins; });
  return by_root;
}

}  // namespace fiberloom::report
